import type { DescService } from '@bufbuild/protobuf';
import { credentials } from '@grpc/grpc-js';
import { openChannel } from '../platform/grpc-client.ts';

/** A client of a service, in cleartext. */
export function connect<S extends DescService>(service: S, address = '', token = '') {
  const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 30_000 });
  return { client: channel.client(service), close: () => channel.close() };
}
