import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** A server of raw connections. Closed, it leaves none of them open. */
export async function openTcpServer(
  serve: (socket: Socket) => void = () => undefined,
  { host = '127.0.0.1', port = 0 } = {},
) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    serve(socket);
  });
  await once(server.listen(port, host), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    /** Resolves with the next connection. */
    connection: async () => (await once(server, 'connection'))[0] as Socket,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
