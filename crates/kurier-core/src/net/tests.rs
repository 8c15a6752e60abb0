use super::*;

#[track_caller]
fn refused(url: &str) -> bool {
    refused_by(&Guard::default(), url)
}

#[track_caller]
fn refused_by(guard: &Guard, url: &str) -> bool {
    let Ok(target) = Target::of(url) else {
        return true;
    };
    match target.host {
        Host::Address(address) => guard.check(&target.host, address, target.port).is_err(),
        Host::Name(name) => panic!("{url} names {name}: what it is only a resolver knows"),
    }
}

#[test]
fn what_is_not_public_is_refused() {
    for url in [
        "http://0.0.0.0/",
        "http://0.1.2.3/",
        "http://10.0.0.1/",
        "http://10.255.255.255/",
        "http://100.64.0.1/",
        "http://100.127.255.255/",
        "http://127.0.0.1/",
        "http://127.1.2.3/",
        "http://168.63.129.16/",
        "http://169.254.169.254/latest/meta-data",
        "http://172.16.0.1/",
        "http://172.31.255.255/",
        "http://192.0.0.1/",
        "http://192.0.0.192/",
        "http://192.0.2.1/",
        "http://192.88.99.1/",
        "http://192.168.0.1/",
        "http://198.18.0.1/",
        "http://198.19.255.1/",
        "http://198.51.100.1/",
        "http://203.0.113.9/",
        "http://224.0.0.1/",
        "http://239.1.1.1/",
        "http://240.0.0.1/",
        "http://255.255.255.255/",
        "http://[::]/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[64:ff9b:1::1]/",
        "http://[100::1]/",
        "http://[2001::1]/",
        "http://[2001:db8::1]/",
        "http://[2001:10::1]/",
        "http://[2002:7f00:1::]/",
        "http://[2002:a00:1::]/",
        "http://[3fff::1]/",
        "http://[5f00::1]/",
        "http://[fc00::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[4000::1]/",
    ] {
        assert!(refused(url), "{url}");
    }
}

#[test]
fn what_is_public_is_not() {
    for url in [
        "https://1.1.1.1/",
        "http://8.8.8.8:8080/x",
        "https://93.184.216.34/",
        "http://100.63.0.1/",
        "http://100.128.0.1/",
        "http://172.15.0.1/",
        "http://172.32.0.1/",
        "http://192.0.1.1/",
        "http://198.17.0.1/",
        "http://198.20.0.1/",
        "http://223.255.255.1/",
        "http://126.0.0.1/",
        "http://[2606:4700:4700::1111]/",
        "http://[2a00:1450::1]:8443/",
        "http://[64:ff9b::8.8.8.8]/",
        "http://[::ffff:8.8.8.8]/",
    ] {
        assert!(!refused(url), "{url}");
    }
}

#[test]
fn unusual_ways_to_write_a_host_are_refused() {
    for url in [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://017700000001/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0177.0.0.1/",
        "http://1.2.3.4.5/",
        "http://user@1.1.1.1/",
        "http://user:pass@example.com/",
        "http://1.1.1.1@127.0.0.1/",
        "http://[::1/",
        "http://[fe80::1%25eth0]/",
        "http:///x",
        "http://:80/",
        "ftp://1.1.1.1/",
        "//1.1.1.1/",
        "gopher://1.1.1.1",
        "http://exa mple.com/",
        "http://a\\@127.0.0.1/",
        "http://1.1.1.1:0/",
        "http://1.1.1.1:65536/",
        "http://1.1.1.1:x/",
        "http://ex%61mple.com/",
        "http://a..b/",
        "http://１２７.0.0.1/",
        "http://1.1.1.1\r\n/",
        "",
    ] {
        assert!(Target::of(url).is_err(), "{url}: {:?}", Target::of(url));
    }
    let spelled = Target::of("http://LocalHost.:8080/").expect("a name");
    assert_eq!(spelled.host, Host::Name("localhost".into()));
}

#[test]
fn ports_of_other_protocols_are_refused() {
    for port in [
        1, 21, 22, 23, 25, 110, 143, 465, 587, 1023, 2375, 3306, 5432, 6379, 11211,
    ] {
        assert!(refused(&format!("http://8.8.8.8:{port}/")), "{port}");
    }
    for port in [80, 443, 1024, 3000, 8000, 8080, 8443, 8787, 65535] {
        assert!(!refused(&format!("http://8.8.8.8:{port}/")), "{port}");
    }
}

#[test]
fn what_an_operator_allows_is_open_and_nothing_else() {
    let guard = Guard::new(["10.1.0.0/16", "::1", " hooks.internal ", "192.168.1.5"]);
    let guard = guard.expect("usable");
    for open in [
        "http://10.1.2.3/",
        "http://[::1]:25/",
        "http://192.168.1.5/",
        "http://[::ffff:10.1.9.9]/",
    ] {
        assert!(!refused_by(&guard, open), "{open}");
    }
    for shut in [
        "http://10.2.0.1/",
        "http://127.0.0.1/",
        "http://192.168.1.6/",
    ] {
        assert!(refused_by(&guard, shut), "{shut}");
    }
    let inner = IpAddr::V4(Ipv4Addr::new(10, 9, 9, 9));
    let named = |name: &str| guard.check(&Host::Name(name.into()), inner, 80);
    assert_eq!(named("hooks.internal"), Ok(()));
    assert!(named("other.internal").is_err());
    for bad in [
        "10.0.0.0/33",
        "10.0.0/8",
        "a b",
        "::1/129",
        "10.0.0.0/x",
        "name/8",
    ] {
        assert!(Guard::new([bad]).is_err(), "{bad}");
    }
}

#[test]
fn the_whole_of_ipv4_is_open_or_shut_by_the_table_alone() {
    // One address of every /16 is compared with a plain reading of the table.
    for high in 0..=u16::MAX {
        let [a, b] = high.to_be_bytes();
        let address = Ipv4Addr::new(a, b, 7, 7);
        let shut = matches!(a, 0 | 10 | 127 | 224..)
            || (a == 100 && (64..128).contains(&b))
            || (a == 169 && b == 254)
            || (a == 172 && (16..32).contains(&b))
            || (a == 192 && b == 168)
            || (a == 198 && (b == 18 || b == 19));
        assert_eq!(fault(IpAddr::V4(address)).is_some(), shut, "{address}");
    }
}
