import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request that has arrived, and its response. */
type Arrived = [request: IncomingMessage, response: ServerResponse];

/**
 * Calls `listener` for one request of an HTTP/1 connection at a time, in their order (RFC 9112, section 9.3.2, asks for
 * that where methods are not safe). Node would begin every request that a client pipelines, and read on for as long as
 * no answer is buffered. A request that arrived behind the current one is held, and the connection is read no further
 * meanwhile; `sliceRequests()` has Node parse little more than that one. When the connection ends, it is forgotten. A
 * connection that holds one while `mostHeld` are held on all connections is closed.
 */
export function oneAtATime(listener: RequestListener, mostHeld = MOST_HELD): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  let held = 0;

  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known) return known;
    const connection: Connection = { isBusy: false, waiting: [] };
    connections.set(socket, connection);
    // Node resumes a socket whenever a body is read or discarded.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => forget(connection));
    return connection;
  }
  function forget(connection: Connection): void {
    held -= connection.waiting.length;
    connection.waiting = [];
  }
  function begin(connection: Connection, [request, response]: Arrived): void {
    connection.isBusy = true;
    response.once('close', () => {
      connection.isBusy = false;
      beginNext(connection, request.socket);
    });
    listener(request, response);
  }
  function beginNext(connection: Connection, socket: Socket): void {
    if (isOver(socket)) {
      forget(connection);
      return;
    }
    const next = connection.waiting.shift();
    if (!next) return;
    held -= 1;
    if (connection.waiting.length === 0) socket.resume();
    begin(connection, next);
  }

  return (request, response) => {
    const { socket } = request;
    if (isOver(socket)) return;
    const connection = connectionOf(socket);
    if (!connection.isBusy) begin(connection, [request, response]);
    else if (held >= mostHeld) socket.destroy();
    else {
      held += 1;
      connection.waiting.push([request, response]);
      socket.pause();
    }
  };
}

interface Connection {
  isBusy: boolean;
  waiting: Arrived[];
}

/** Whether nothing that the client sent after the last answer is to be done: it was `Connection: close`. */
function isOver(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded;
}

/** Of all connections of a server; about 5 KB each. */
const MOST_HELD = 8_192;
