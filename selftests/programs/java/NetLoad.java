// SPDX-License-Identifier: GPL-2.0

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Random;

/**
 * A server that sends back what it gets, and clients that know what that is, both
 * with selectors; further a client with streams and one that sends a file.
 *
 *   NetLoad serve PORT
 *   NetLoad load PORT CLIENTS BYTES FILE
 */
public class NetLoad {
	/** What is waiting for its turn on one of the server's connections. */
	static class Echo {
		final ByteBuffer buffer = ByteBuffer.allocateDirect(65536);
		boolean ended;

		/** Reads while there is room, writes while there is something. */
		void turn(SelectionKey key) throws IOException {
			SocketChannel channel = (SocketChannel) key.channel();

			if (key.isReadable() && channel.read(buffer) < 0)
				ended = true;
			buffer.flip();
			channel.write(buffer);
			buffer.compact();
			if (ended && buffer.position() == 0) {
				channel.close();
				return;
			}
			key.interestOps((ended || !buffer.hasRemaining() ? 0 : SelectionKey.OP_READ)
				| (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
		}
	}

	static void listen(Selector selector, String host, int port) throws IOException {
		ServerSocketChannel server = ServerSocketChannel.open();

		server.bind(new InetSocketAddress(host, port));
		server.configureBlocking(false);
		server.register(selector, SelectionKey.OP_ACCEPT);
	}

	static void serve(int port) throws IOException {
		Selector selector = Selector.open();

		listen(selector, "127.0.0.1", port);
		listen(selector, "::1", port + 1);
		while (true) {
			selector.select();
			for (SelectionKey key : selector.selectedKeys()) {
				if (key.isAcceptable()) {
					SocketChannel channel = ((ServerSocketChannel) key.channel()).accept();
					channel.configureBlocking(false);
					channel.register(selector, SelectionKey.OP_READ, new Echo());
				} else {
					((Echo) key.attachment()).turn(key);
				}
			}
			selector.selectedKeys().clear();
		}
	}

	/** Byte number at of the sequence of a seed. */
	static byte wanted(long seed, long at) {
		long x = seed + (at / 8 + 1) * 0x9e3779b97f4a7c15L;

		x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
		x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
		return (byte) ((x ^ x >>> 31) >>> at % 8 * 8);
	}

	/** One of the clients that share a selector. */
	static class Client {
		final ByteBuffer out = ByteBuffer.allocateDirect(30000);
		final ByteBuffer in = ByteBuffer.allocateDirect(50000);
		final long seed, size;
		long sent, produced, received;

		Client(long seed, long size) {
			this.seed = seed;
			this.size = size;
			out.flip();
		}

		void write(SelectionKey key) throws IOException {
			SocketChannel channel = (SocketChannel) key.channel();

			if (!out.hasRemaining()) {
				out.clear();
				while (out.hasRemaining() && produced < size)
					out.put(wanted(seed, produced++));
				out.flip();
			}
			sent += channel.write(out);
			if (sent == size) {
				channel.shutdownOutput();
				key.interestOps(SelectionKey.OP_READ);
			}
		}

		/** Whether this was the end. */
		boolean read(SocketChannel channel) throws IOException {
			in.clear();
			int n = channel.read(in);
			if (n < 0) {
				if (received != size)
					throw new IOException(received + " bytes came back, not " + size);
				channel.close();
				return true;
			}
			in.flip();
			while (in.hasRemaining())
				if (in.get() != wanted(seed, received++))
					throw new IOException("byte " + (received - 1) + " is wrong");
			return false;
		}
	}

	static void selected(int port, int clients, long bytes) throws IOException {
		Selector selector = Selector.open();
		int left = clients;

		for (int i = 0; i < clients; i++) {
			SocketChannel channel = SocketChannel.open();
			channel.configureBlocking(false);
			channel.connect(i % 2 == 0 ? new InetSocketAddress("127.0.0.1", port)
				: new InetSocketAddress("::1", port + 1));
			channel.register(selector, SelectionKey.OP_CONNECT, new Client(i, bytes + i));
		}
		while (left > 0) {
			selector.select();
			for (SelectionKey key : selector.selectedKeys()) {
				Client client = (Client) key.attachment();
				if (key.isConnectable()) {
					((SocketChannel) key.channel()).finishConnect();
					key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
					continue;
				}
				if (key.isWritable())
					client.write(key);
				if (key.isReadable() && client.read((SocketChannel) key.channel()))
					left--;
			}
			selector.selectedKeys().clear();
		}
	}

	static void streams(int port, int rounds) throws IOException {
		Random random = new Random(1);

		try (Socket socket = new Socket("127.0.0.1", port)) {
			OutputStream out = socket.getOutputStream();
			DataInputStream in = new DataInputStream(socket.getInputStream());
			socket.setSoTimeout(60000);
			for (int i = 0; i < rounds; i++) {
				byte[] there = new byte[1 + random.nextInt(3000)], back = new byte[there.length];
				random.nextBytes(there);
				out.write(there);
				in.readFully(back);
				if (!java.util.Arrays.equals(there, back))
					throw new IOException("round " + i + " differs");
			}
		}
	}

	/** Sends a file by transferTo and compares what comes back. */
	static void file(int port, Path path) throws Exception {
		try (FileChannel file = FileChannel.open(path);
		     SocketChannel channel = SocketChannel.open(new InetSocketAddress("127.0.0.1", port))) {
			long size = file.size();
			Thread sender = new Thread(() -> {
				try {
					for (long at = 0; at < size; )
						at += file.transferTo(at, size - at, channel);
					channel.shutdownOutput();
				} catch (IOException error) {
					throw new RuntimeException(error);
				}
			});
			sender.start();
			ByteBuffer got = ByteBuffer.allocate((int) size + 1);
			while (channel.read(got) >= 0)
				;
			sender.join();
			ByteBuffer all = ByteBuffer.allocate((int) size);
			while (all.hasRemaining())
				file.read(all, all.position());
			if (!all.flip().equals(got.flip()))
				throw new IOException("the file differs");
		}
	}

	public static void main(String[] args) throws Exception {
		int port = Integer.parseInt(args[1]);

		if (args[0].equals("serve")) {
			serve(port);
		} else {
			selected(port, Integer.parseInt(args[2]), Long.parseLong(args[3]));
			streams(port, Integer.parseInt(args[2]) * 20);
			file(port, Path.of(args[4]));
		}
	}
}
