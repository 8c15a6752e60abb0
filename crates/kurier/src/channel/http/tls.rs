//! TLS towards servers: the public certificates, or the one that a channel names.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use crate::channel::Unusable;

pub fn connector(ca_certificate: Option<&str>) -> Result<TlsConnector, Unusable> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| Unusable(e.to_string()))?
        .with_root_certificates(roots(ca_certificate)?)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn roots(ca_certificate: Option<&str>) -> Result<RootCertStore, Unusable> {
    let Some(pem) = ca_certificate else {
        return Ok(webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect());
    };
    let bad = |e: &dyn std::fmt::Display| Unusable(format!("ca_certificate: {e}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|e| bad(&e))?;
        roots.add(certificate).map_err(|e| bad(&e))?;
    }
    if roots.is_empty() {
        return Err(bad(&"it holds no certificate"));
    }
    Ok(roots)
}
