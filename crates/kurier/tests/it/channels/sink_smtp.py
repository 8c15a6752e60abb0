"""A mail server that keeps what it is sent and misbehaves when the recipient says so.

It prints its port, then a line of JSON for every mail and every connection. Recipients:
`reply-550-5.1.1@…` is refused so, `data-451-4.3.0@…` after the content, `drop@…` loses the
connection after the last dot, `drop-rcpt@…` before, `slow@…` never answers after the dot,
`slow-rcpt@…` never answers before.
"""
import asyncio
import base64
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

options = json.loads(sys.argv[1])


def say(**what):
    print(json.dumps(what), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, rcpt_options):
        word, *rest = address.split("@")[0].split("-")
        if word == "reply":
            return f"{rest[0]} {rest[1]} as you wish" if len(rest) > 1 else f"{rest[0]} as you wish"
        if address.startswith("drop-rcpt@"):
            server.transport.abort()
        if address.startswith("slow-rcpt@"):
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, server, session, envelope):
        to = envelope.rcpt_tos[0]
        word, *rest = to.split("@")[0].split("-")
        say(kind="mail", sender=envelope.mail_from, to=envelope.rcpt_tos, tls=server.transport.get_extra_info("sslcontext") is not None,
            user=(session.auth_data.login.decode() if session.authenticated else None),
            raw=base64.b64encode(envelope.original_content).decode())
        if word == "data":
            return f"{rest[0]} {rest[1]} as you wish"
        if word == "drop":
            server.transport.abort()
        if word == "slow":
            await asyncio.sleep(3600)
        return "250 2.0.0 kept as 42"


def authenticator(server, session, envelope, mechanism, data):
    good = data.password.decode() == options["password"]
    return AuthResult(success=good, handled=False, auth_data=data)


def factory():
    say(kind="connection")
    context = None
    if "certificate" in options:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["certificate"])
    implicit = options.get("security") == "tls"
    return SMTP(Handler(), hostname="sink", enable_SMTPUTF8=options.get("utf8", True),
                tls_context=None if implicit else context,
                authenticator=authenticator if "password" in options else None,
                auth_require_tls="password" in options and not implicit,
                require_starttls=options.get("security") == "starttls")


async def main():
    context = None
    if options.get("security") == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options["certificate"])
    server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
