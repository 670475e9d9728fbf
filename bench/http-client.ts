/** POSTs over kept connections with as little work as can be: what it costs is missing from the servers it measures. */
import { connect, type Socket } from 'node:net';

/** A client of one server whose answers all have a Content-Length. It opens as many connections as it needs at once. */
export function httpClient(baseUrl: string) {
  const { hostname, port, host } = new URL(baseUrl);
  const sockets = new Set<Socket>();
  const idle: Socket[] = [];

  function open(): Socket {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    sockets.add(socket.setEncoding('latin1'));
    return socket;
  }

  return {
    /** Resolves with the answer's body, which must be ASCII. Rejects when its status is not the expected one. */
    async post(path: string, headers: Readonly<Record<string, string>>, body: string, expected: number) {
      const socket = idle.pop() ?? open();
      let head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
      socket.write(`${head}\r\n${body}`);
      const answer = await readAnswer(socket);
      idle.push(socket);
      if (answer.status !== expected) throw new Error(`${answer.status}: ${answer.body.slice(0, 200)}`);
      return answer.body;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads one answer. Rejects when the connection ends before it is complete. */
function readAnswer(socket: Socket): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: string) => {
      text += chunk;
      const headEnd = text.indexOf('\r\n\r\n');
      const [, length] = headEnd === -1 ? [] : (/\r\nContent-Length: (\d+)/i.exec(text) ?? []);
      if (length === undefined || text.length < headEnd + 4 + Number(length)) return;
      socket.off('data', onData).off('error', onEnd).off('close', onEnd);
      resolve({ status: Number(text.slice(9, 12)), body: text.slice(headEnd + 4) });
    };
    const onEnd = (cause?: unknown) => reject(new Error('the connection ended before its answer', { cause }));
    socket.on('data', onData).once('error', onEnd).once('close', onEnd);
  });
}
