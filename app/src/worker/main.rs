//! The worker's binary.

fn main() {
    app::worker::start();
}
