//! SMTP: every letter is taken. No extension that would let a client send ahead is offered.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

const GREETING: &[u8] = b"220 sink ready\r\n";

pub async fn serve(mut stream: TcpStream, count: &AtomicUsize) -> io::Result<()> {
    let (reader, writer) = stream.split();
    talk(BufReader::new(reader), writer, count).await
}

async fn talk(
    mut reader: impl AsyncBufRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    count: &AtomicUsize,
) -> io::Result<()> {
    writer.write_all(GREETING).await?;
    let mut line = Vec::new();
    while next(&mut reader, &mut line).await? {
        let verb = line.get(..4).unwrap_or_default().to_ascii_uppercase();
        let answer: &[u8] = match verb.as_slice() {
            b"EHLO" => b"250-sink\r\n250-SIZE 10485760\r\n250 8BITMIME\r\n",
            b"HELO" | b"MAIL" | b"RCPT" | b"RSET" | b"NOOP" => b"250 OK\r\n",
            b"DATA" => b"354 go on\r\n",
            b"QUIT" => b"221 bye\r\n",
            _ => b"502 unknown\r\n",
        };
        writer.write_all(answer).await?;
        match verb.as_slice() {
            b"DATA" if letter(&mut reader, &mut line).await? => {
                count.fetch_add(1, Ordering::Relaxed);
                writer.write_all(b"250 taken\r\n").await?;
            }
            b"DATA" | b"QUIT" => return Ok(()),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a letter to its end, a dot alone; a line of the letter that begins with a dot has one
/// more. False if the client went away in the middle.
async fn letter(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<bool> {
    while next(reader, line).await? {
        if line == b".\r\n" {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn next(reader: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Ok(reader.read_until(b'\n', line).await? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn letters_are_counted_at_their_dot() {
        let said = b"EHLO me\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nS: x\r\n\r\n..\r\nDATA\r\n.\r\n\
            RSET\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nhi\r\n.\r\nHELP\r\nQUIT\r\nNOOP\r\n";
        let (mut answers, count) = (Vec::new(), AtomicUsize::new(0));
        talk(said.as_slice(), &mut answers, &count)
            .await
            .expect("a talk");
        let answers = String::from_utf8(answers).expect("text");
        let codes: Vec<&str> = answers.lines().map(|line| &line[..3]).collect();
        let expected = "220 250 250 250 250 250 354 250 250 250 250 354 250 502 221";
        assert_eq!(codes.join(" "), expected);
        assert_eq!(count.into_inner(), 2);
    }
}
