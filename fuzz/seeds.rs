//! Writes the seeds that the targets start from: tiny ones made here, and the corpus's logs,
//! checkpoints and deletion vectors where `TIDEMARK_CORPUS` names it.
//!
//! `seeds <folder>` makes one folder a target below `<folder>`. It is compiled by itself, without
//! cargo: what the targets are built with would count its branches too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Larger files teach a fuzzer little and cost it much.
const LARGEST: u64 = 64 * 1024;

/// Seeds of one kind taken from the corpus.
const MOST: usize = 400;

fn main() -> io::Result<()> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("say where the seeds go"))?;
    let mut seeds = Seeds { folder, written: 0 };
    seeds.built_in()?;
    match std::env::var_os("TIDEMARK_CORPUS") {
        Some(corpus) => seeds.corpus(&PathBuf::from(corpus).join("delta"))?,
        None => println!("TIDEMARK_CORPUS is not set: only the built-in seeds"),
    }
    println!("{} seeds", seeds.written);
    Ok(())
}

struct Seeds {
    folder: PathBuf,
    written: usize,
}

impl Seeds {
    fn put(&mut self, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)?;
        self.written += 1;
        Ok(())
    }

    fn built_in(&mut self) -> io::Result<()> {
        // Rows 1 and 4 in the portable format, and rows 3 and 5 in the old one.
        let portable: &[u8] = &[
            0, 0, 2, 0, 0xd1, 0xd3, 0x39, 0x64, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3a, 0x30, 0,
            0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 1, 0, 4, 0,
        ];
        let native: &[u8] = &[
            0, 0, 2, 0, 0x64, 0x39, 0xd3, 0xd0, 0, 0, 0, 1, 0, 0, 0, 20, 0x3a, 0x30, 0, 0, 1, 0, 0,
            0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 5, 0,
        ];
        let inline = b"\x01\x00\x06\x00wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L";
        self.put("deletion_vector", "portable", portable)?;
        self.put("deletion_vector", "native", native)?;
        self.put("deletion_vector", "inline", inline)?;
        self.put("log", "actions", include_bytes!("seeds/actions.json"))?;
        self.put(
            "checkpoint",
            "magic",
            b"PAR1\x15\x00\x00\x04\x00\x00\x00PAR1",
        )
    }

    fn corpus(&mut self, delta: &Path) -> io::Result<()> {
        let mut files = Vec::new();
        gather(delta, &mut files)?;
        files.sort();
        let mut taken = [0usize; 3];
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let log = file
                .components()
                .any(|part| part.as_os_str() == "_delta_log");
            let kind = match name.rsplit('.').next() {
                Some("parquet") if log => 0,
                Some("json") if log => 1,
                Some("bin") => 2,
                _ => continue,
            };
            if fs::metadata(&file)?.len() > LARGEST || taken[kind] >= MOST {
                continue;
            }
            taken[kind] += 1;
            let target = ["checkpoint", "log", "deletion_vector"][kind];
            let mut bytes = fs::read(&file)?;
            if kind == 2 {
                // The target wants four bytes of descriptor, then the vector itself.
                bytes = [
                    &[0, 0, 2, 0][..],
                    bytes.get(5..bytes.len() - 4).unwrap_or_default(),
                ]
                .concat();
            }
            self.put(target, &format!("corpus-{}", taken[kind]), &bytes)?;
        }
        Ok(())
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => gather(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}
