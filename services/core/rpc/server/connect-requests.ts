import { AsyncLocalStorage } from 'node:async_hooks';
import type { DescMessage } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ConnectRouterOptions,
  createConnectRouter,
  createContextValues,
} from '@connectrpc/connect';
import { createAsyncIterable, type UniversalServerResponse, uResponseNotFound } from '@connectrpc/connect/protocol';
import {
  compressionBrotli,
  compressionGzip,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from '@connectrpc/connect-node';
import { invalidRequest } from '../refuse.ts';
import type { MountedService } from '../services.ts';
import { peerKey } from './caller.ts';
import type { Handler } from './connect-entrance.ts';
import { findLooseIntegers } from './find-loose-integers.ts';
import { translateError } from './translate-error.ts';

/**
 * Serves Connect, gRPC-Web and gRPC requests. It differs from connectNodeAdapter in three points: a request with an
 * invalid Host is rejected and does not end the process; JSON is read strictly; a message that cannot be parsed is
 * INVALID_ARGUMENT, not INTERNAL.
 */
export function serveConnect(services: readonly MountedService[], options: ConnectRouterOptions): Handler {
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    ...options,
    // Connect decodes JSON with this decoder.
    jsonOptions: { ignoreUnknownFields: false, textDecoder: STRICT_DECODER } as ConnectRouterOptions['jsonOptions'] &
      object,
  });
  for (const { service, implementation } of services) router.service(service, implementation);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    const answer = async (): Promise<UniversalServerResponse> => {
      const handler = handlers.get(request.url?.split('?', 1)[0] ?? '');
      if (!handler) return uResponseNotFound;
      const peer = createContextValues().set(peerKey, request.socket.remoteAddress ?? '');
      const parsed = tryRead(() =>
        universalRequestFromNodeRequest(request as never, response as never, undefined, peer),
      );
      if (!parsed) return BAD_HOST;
      return readable(await inputOf.run(handler.method.input, () => handler(parsed)));
    };
    answer()
      .then((answered) => universalResponseToNodeResponse(answered, response as never))
      .catch((error: unknown) => {
        // The caller has disconnected; the call is logged already.
        response.destroy(error instanceof Error ? error : undefined);
      });
  };
}

/** The schema of the message that is being read. */
const inputOf = new AsyncLocalStorage<DescMessage>();

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes a message's text, and rejects integers that only protobuf's parser accepts. */
const STRICT_DECODER = {
  decode(bytes: Uint8Array): string {
    const text = tryRead(() => UTF8.decode(bytes));
    if (text === undefined) throw new ConnectError('the request is not UTF-8', Code.InvalidArgument);
    const schema = inputOf.getStore();
    const loose = schema ? findLooseIntegers(schema, text) : [];
    if (loose.length === 0) return text;
    const description = 'must be a plain integer, or one in a string';
    throw translateError(invalidRequest(loose.map((field) => ({ field, description }))));
  },
};

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // Node, URL and TextDecoder throw TypeError for bad input; Connect throws for a request without a Host.
    if (error instanceof TypeError || error instanceof ConnectError) return undefined;
    throw error;
  }
}

const BAD_HOST: UniversalServerResponse = { status: 400 };

/** Connect reports protobuf that cannot be parsed as an internal error; this corrects it. */
async function readable(answered: UniversalServerResponse): Promise<UniversalServerResponse> {
  if (answered.status !== 500 || !answered.body) return answered;
  const whole = Buffer.concat(await Array.fromAsync(answered.body));
  const unparsable = whole.toString('latin1', 0, UNPARSABLE.length) === UNPARSABLE;
  const body = unparsable ? Buffer.from(INVALID) : whole;
  const header = new Headers(answered.header);
  header.set('content-length', String(body.length));
  return { ...answered, status: unparsable ? 400 : answered.status, header, body: createAsyncIterable([body]) };
}

const UNPARSABLE = '{"code":"internal","message":"parse binary: ';
const INVALID = JSON.stringify({ code: 'invalid_argument', message: 'the request is not a valid message' });
