/// Servers that Debian's programs cannot be configured to be.
enum BrokenServers {
    /// Name servers on port 53, by UDP and TCP: 198.51.100.55 fails (SERVFAIL), .56 denies every name (NXDOMAIN), and
    /// .58 leads every name to 198.51.100.70. At .84 a web server whose clock is in July 2020, and what is none: port
    /// 80 answers with something else, and port 81 cuts the connection.
    static let python = """
        import socket, ssl, struct, sys, threading

        MODES = {"198.51.100.55": 2, "198.51.100.56": 3, "198.51.100.58": 0}

        def reply(query, code):
            end = query.index(b"\\0", 12) + 5
            kind = struct.unpack("!H", query[end - 4:end - 2])[0]
            answer = b""
            if code == 0 and kind == 1:
                answer = b"\\xc0\\x0c" + struct.pack("!HHIH", 1, 1, 5, 4) + bytes([198, 51, 100, 70])
            head = query[:2] + struct.pack("!HHHHH", 0x8580 | code, 1, 1 if answer else 0, 0, 0)
            return head + query[12:end] + answer

        def datagrams(address, code):
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind((address, 53))
            while True:
                query, sender = server.recvfrom(4096)
                server.sendto(reply(query, code), sender)

        def streams(address, code):
            server = socket.create_server((address, 53))
            while True:
                connection, _ = server.accept()
                try:
                    size = struct.unpack("!H", connection.recv(2))[0]
                    answer = reply(connection.recv(size), code)
                    connection.sendall(struct.pack("!H", len(answer)) + answer)
                except Exception:
                    pass
                connection.close()

        def web(certificate, key):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server = socket.create_server(("198.51.100.84", 443))
            while True:
                connection, _ = server.accept()
                try:
                    connection.settimeout(5)
                    secure = context.wrap_socket(connection, server_side=True)
                    secure.recv(4096)
                    secure.sendall(b"HTTP/1.1 204 No Content\\r\\nDate: Wed, 01 Jul 2020 00:00:00 GMT\\r\\n"
                                   b"Connection: close\\r\\n\\r\\n")
                    secure.unwrap()
                except Exception:
                    pass
                connection.close()

        def rude(port, answer):
            server = socket.create_server(("198.51.100.84", port))
            while True:
                connection, _ = server.accept()
                try:
                    connection.settimeout(5)
                    connection.recv(4096)
                    connection.sendall(answer)
                except Exception:
                    pass
                connection.close()

        for port, answer in ((80, b"220 mail.example.net ready\\r\\n"), (81, b"")):
            threading.Thread(target=rude, args=(port, answer), daemon=True).start()
        for address, code in MODES.items():
            for serve in (datagrams, streams):
                threading.Thread(target=serve, args=(address, code), daemon=True).start()
        threading.Thread(target=web, args=sys.argv[1:3], daemon=True).start()
        ready = socket.create_server(("127.0.0.1", 9999))
        threading.Event().wait()
        """
}
