// SPDX-License-Identifier: GPL-2.0
//
// node http.js serve PORT
// node http.js load PORT COUNT
//
// A server that answers with bytes that the request determines, takes bodies and
// tells their checksum, or sends them back while they still come; and clients with
// and without keep-alive that check all of it.
'use strict';

const crypto = require('crypto');
const http = require('http');
const {PassThrough, Readable} = require('stream');
const {pipeline} = require('stream/promises');

// The same bytes for the same seed, cheaply.
function block(seed, size) {
	return crypto.createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16))
		.update(Buffer.alloc(size));
}

function sum(data) {
	return crypto.createHash('sha256').update(data).digest('hex');
}

function answer(request, response) {
	const url = new URL(request.url, 'http://localhost');
	const seed = Number(url.searchParams.get('seed'));
	const size = Number(url.searchParams.get('size'));

	if (url.pathname === '/give') {
		response.end(block(seed, size));
	} else if (url.pathname === '/take') {
		const hash = crypto.createHash('sha256');
		request.on('data', (data) => hash.update(data));
		request.on('end', () => response.end(hash.digest('hex')));
	} else {
		pipeline(request, new PassThrough(), response).catch(() => {});
	}
}

// An idle connection is kept, however slow the machine: to close one just when a
// request comes is a reset that the client has to expect.
function serve(port) {
	for (const [host, at] of [['127.0.0.1', port], ['::1', port + 1]]) {
		const server = http.createServer({keepAliveTimeout: 3600000}, answer);
		server.requestTimeout = 0;
		server.listen(at, host);
	}
}

// One request with a body or without; resolves to the answer's body.
function ask(agent, host, port, path, body) {
	return new Promise((resolve, reject) => {
		const request = http.request({agent, host, port, path, method: body ? 'POST' : 'GET'});
		const parts = [];
		request.on('error', reject);
		request.on('response', (response) => {
			response.on('data', (data) => parts.push(data));
			response.on('error', reject);
			response.on('end', () => resolve(Buffer.concat(parts)));
		});
		if (body)
			Readable.from(pieces(body)).pipe(request);
		else
			request.end();
	});
}

function* pieces(body) {
	for (let at = 0, size = 1; at < body.length; at += size, size = size * 7 % 65521 + 1)
		yield body.subarray(at, at + size);
}

function must(good, what) {
	if (!good)
		throw new Error(what);
}

async function client(agent, host, port, id, count) {
	for (let i = 0; i < count; i++) {
		const got = await ask(agent, host, port, `/give?seed=${id}&size=${i * 131}`);
		must(got.equals(block(id, i * 131)), `answer ${i} of client ${id}`);
	}
}

async function bodies(agent, host, port, id) {
	const body = block(id, 3000000 + id);
	const told = await ask(agent, host, port, '/take', body);
	must(told.toString() === sum(body), `the sum of body ${id}`);
	const back = await ask(agent, host, port, '/back', body);
	must(back.equals(body), `body ${id} sent back`);
}

async function load(port, count) {
	for (const keepAlive of [true, false]) {
		const agent = new http.Agent({keepAlive, maxSockets: 8});
		const work = [];
		for (let id = 0; id < 8; id++)
			work.push(client(agent, id % 2 ? '::1' : '127.0.0.1', port + id % 2, id, count));
		for (let id = 0; id < 2; id++)
			work.push(bodies(agent, '127.0.0.1', port, id));
		await Promise.all(work);
		agent.destroy();
	}
}

if (process.argv[2] === 'serve')
	serve(Number(process.argv[3]));
else
	load(Number(process.argv[3]), Number(process.argv[4])).catch((error) => {
		console.error(error);
		process.exit(1);
	});
