//! A program that runs for as long as a test needs it.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running program in a group of its own, its output in files. Dropping it ends the group.
#[derive(Debug)]
pub struct Process {
    child: Child,
    name: String,
    output: TempDir,
}

impl Process {
    /// Starts the command.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let output = TempDir::new().expect("a temporary folder can be made");
        let file = |name: &str| File::create(output.path().join(name)).expect("it can be written");
        let child = command
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self {
            child,
            name,
            output,
        }
    }

    /// What it has written to standard output so far.
    pub fn stdout(&self) -> String {
        self.read("stdout")
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        self.read("stderr")
    }

    /// Waits until `ready` gives a value.
    ///
    /// # Panics
    /// If the program ends first or two minutes pass.
    pub fn wait<T>(&mut self, mut ready: impl FnMut(&Self) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(value) = ready(self) {
                return value;
            }
            let ended = self.child.try_wait().expect("it can be asked");
            if ended.is_some() || start.elapsed() > Duration::from_secs(120) {
                let (name, out, err) = (&self.name, self.stdout(), self.stderr());
                panic!("{name} is not ready (ended: {ended:?})\n{out}\n{err}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it listens on the port.
    pub fn wait_for_port(&mut self, port: u16) {
        self.wait(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    }

    /// Sends a signal to its group: `STOP`, `CONT`.
    pub fn signal(&self, name: &str) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill")
            .args([&format!("-{name}"), "--", &group])
            .status();
    }

    /// Bytes of memory that it holds now.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.output.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The whole group: a driver's browser must not outlive the driver.
        self.signal("KILL");
        let _ = self.child.wait();
    }
}

/// Ports that were free a moment ago, all different.
pub fn free_ports<const N: usize>() -> [u16; N] {
    let listeners: [TcpListener; N] = std::array::from_fn(|_| {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free")
    });
    listeners.map(|listener| listener.local_addr().expect("it is bound").port())
}
