"""Makes keys: a certificate for a server on this machine, and pairs of DKIM keys."""
import base64
import json
import sys

import trustme
from cryptography.hazmat.primitives import serialization as s
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

folder = sys.argv[1]
ca = trustme.CA()
server = ca.issue_cert("localhost", "127.0.0.1")
server.private_key_and_cert_chain_pem.write_to_path(f"{folder}/server.pem")


def private(key, form):
    return key.private_bytes(s.Encoding.PEM, form, s.NoEncryption()).decode()


def public(data):
    return base64.b64encode(data).decode()


big = rsa.generate_private_key(65537, 2048)
small = ed25519.Ed25519PrivateKey.generate()
print(json.dumps({
    "ca": ca.cert_pem.bytes().decode(),
    "other_ca": trustme.CA().cert_pem.bytes().decode(),
    "server": f"{folder}/server.pem",
    "rsa": private(big, s.PrivateFormat.PKCS8),
    "rsa_old": private(big, s.PrivateFormat.TraditionalOpenSSL),
    "rsa_public": public(big.public_key().public_bytes(s.Encoding.DER, s.PublicFormat.SubjectPublicKeyInfo)),
    "ed25519": private(small, s.PrivateFormat.PKCS8),
    "ed25519_public": public(small.public_key().public_bytes(s.Encoding.Raw, s.PublicFormat.Raw)),
}))
