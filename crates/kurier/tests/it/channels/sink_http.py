"""An HTTP server that keeps what it is sent and misbehaves as the path says.

It prints its port, then a line of JSON for every request.
"""
import asyncio
import base64
import email.utils
import json
import ssl
import sys
import time

options = json.loads(sys.argv[1])
STATE = {"now": 0, "most": 0}


def say(**what):
    print(json.dumps(what), flush=True)


async def read(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    pairs = (line.split(": ", 1) for line in lines if line)
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    method, path, _ = first.split(" ")
    return method, path, headers, body


def answer(writer, status, body=b"", headers=()):
    head = [f"HTTP/1.1 {status} x", f"content-length: {len(body)}", *headers]
    writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + body)


async def huge(writer):
    writer.write(b"HTTP/1.1 200 x\r\ncontent-length: 1073741824\r\n\r\n")
    written = 0
    try:
        while written < 1073741824:
            writer.write(b"x" * 65536)
            await writer.drain()
            written += 65536
    except ConnectionError:
        pass
    say(kind="huge", written=written)


def slack(writer, body):
    said = json.loads(body)
    channel = said.get("channel", "")
    if channel.startswith("C"):
        answer(writer, 200, json.dumps({"ok": True, "ts": "1.2", "channel": channel}).encode())
    else:
        answer(writer, 200, json.dumps({"ok": False, "error": channel}).encode())


async def respond(reader, writer, path):
    word, _, rest = path.lstrip("/").partition("/")
    if word == "status":
        answer(writer, int(rest), b"as you wish")
    elif word == "retry":
        value = rest if rest.isdigit() else email.utils.formatdate(time.time() + 90, usegmt=True)
        answer(writer, 429, b"", [f"retry-after: {value}"])
    elif word == "redirect":
        to = "http://169.254.169.254/" if rest == "metadata" else "/ok"
        answer(writer, 302, b"", [f"location: {to}"])
    elif word == "huge":
        await huge(writer)
    elif word == "hang":
        await asyncio.sleep(3600)
    elif word == "close":
        writer.close()
        return False
    elif word == "text":
        answer(writer, int(rest.split("/")[0]), rest.split("/")[1].encode())
    elif word == "twilio":
        code = int(rest.split("/")[0])
        if code:
            answer(writer, 400, json.dumps({"code": code, "message": "no"}).encode())
        else:
            answer(writer, 201, json.dumps({"sid": "SM1"}).encode())
    else:
        answer(writer, 200, b'{"id": "p1"}')
    return True


async def serve(reader, writer):
    try:
        while True:
            method, path, headers, body = await read(reader)
            STATE["now"] += 1
            STATE["most"] = max(STATE["most"], STATE["now"])
            say(kind="request", method=method, path=path, headers=headers, most=STATE["most"],
                body=base64.b64encode(body).decode())
            if path.startswith("/gate"):
                while STATE["now"] < int(path.split("/")[2]):
                    await asyncio.sleep(0.005)
                answer(writer, 200)
                await writer.drain()
                await asyncio.sleep(0.02)
                STATE["now"] -= 1
                continue
            if path.endswith("/chat.postMessage"):
                slack(writer, body)
            elif not await respond(reader, writer, path):
                return
            STATE["now"] -= 1
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        writer.close()


async def main():
    context = None
    if "certificate" in options:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["certificate"])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
