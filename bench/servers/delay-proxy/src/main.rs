// delay-proxy PORT TARGET_PORT MICROSECONDS: passes TCP on to a server on this machine, each way so much later.
// As on a long way, bytes wait for their time and not for one another: the rate is not limited.
use std::env;
use std::io::{Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, receiver) = channel::<(Instant, Vec<u8>)>();
    spawn(move || {
        for (due, bytes) in receiver {
            sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
    });
}

fn serve(client: TcpStream, target: u16, delay: Duration) -> Result<()> {
    let server = TcpStream::connect(("127.0.0.1", target))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    pass(client.try_clone()?, server.try_clone()?, delay);
    pass(server, client, delay);
    Ok(())
}

fn main() -> Result<()> {
    let numbers: Vec<u64> = env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let [port, target, microseconds] = numbers[..] else {
        panic!("delay-proxy PORT TARGET_PORT MICROSECONDS");
    };
    for client in TcpListener::bind(("127.0.0.1", port as u16))?.incoming() {
        if let Err(error) = serve(client?, target as u16, Duration::from_micros(microseconds)) {
            eprintln!("{error}");
        }
    }
    Ok(())
}
