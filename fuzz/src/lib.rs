//! What the targets share: a store in memory, waiting for an answer from it, and what counts as a
//! finding besides a panic of ours: an allocation that no input of this size is worth.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic;
use std::sync::{Arc, Once};

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};

pub use futures::executor::block_on;

/// A page of 256 MiB is allowed, and so is a decoder's copy of it; nothing is larger.
const LARGEST: usize = 1 << 30;

struct Bounded;

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

// SAFETY: every call is the system allocator's own.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        bounded(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        bounded(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        bounded(size);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn bounded(size: usize) {
    if size > LARGEST {
        // The allocator must not panic, and a backtrace says who asked.
        eprintln!("a finding: {size} bytes asked for at once");
        eprintln!("{}", std::backtrace::Backtrace::force_capture());
        std::process::abort();
    }
}

/// Lets the Parquet and Arrow decoders panic where `lake` catches it, and ends at any other panic.
/// Without this every panic ends the run before it can be caught.
pub fn decoders_may_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        panic::set_hook(Box::new(|info| {
            let file = info.location().map_or("", |place| place.file());
            let decoder = [
                "/parquet-",
                "/arrow-",
                "/brotli-",
                "/snap-",
                "/lz4_flex-",
                "/zstd-",
            ];
            if decoder.iter().any(|name| file.contains(name)) {
                return;
            }
            eprintln!("a finding: {info}");
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
            std::process::abort();
        }));
    });
}

/// A store with these objects.
pub fn store(objects: &[(&str, &[u8])]) -> Arc<dyn ObjectStore> {
    let store = InMemory::new();
    for (key, bytes) in objects {
        let payload = PutPayload::from_bytes(Bytes::copy_from_slice(bytes));
        block_on(store.put(&Path::from(*key), payload)).expect("memory takes everything");
    }
    Arc::new(store)
}
