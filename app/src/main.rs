//! The page's start.

fn main() {
    console_error_panic_hook::set_once();
    app::markup::mount(app::app::App);
}
