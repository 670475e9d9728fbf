import assert from 'node:assert/strict';
import type { DescMethod, MessageShape } from '@bufbuild/protobuf';
import { createValidator } from '@bufbuild/protovalidate';
import { credentials } from '@grpc/grpc-js';
import { type GrpcClient, openChannel } from '../../platform/grpc-client.ts';
import { ProcessorService } from '../../proto/gen/holdfast/processor/v1/processor_pb.js';

export type Client = GrpcClient<typeof ProcessorService>;

/** The adapter under test. Every answer is held against the contract's constraints. */
export interface Adapter {
  readonly client: Client;
  /** The same with another credential. */
  clientWith(credential: string): Client;
  close(): void;
}

const TIMEOUT_MS = 20_000;
const validator = createValidator();

/** Opens channels to an adapter; none of them connects before the first call. */
export function openAdapter(address: string, credential: string): Adapter {
  const closers: (() => void)[] = [];
  const clientWith = (token: string) => {
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: TIMEOUT_MS });
    closers.push(channel.close);
    return channel.client(ProcessorService);
  };
  return {
    client: validated(clientWith(credential)),
    clientWith,
    close() {
      for (const close of closers) close();
    },
  };
}

/** A client whose calls reject when the adapter answers what the contract does not allow. */
function validated(client: Client): Client {
  const methods = ProcessorService.methods.map((method) => {
    const call = client[method.localName as keyof Client] as (...args: unknown[]) => Promise<object>;
    const checked = async (...args: unknown[]) => {
      const response = await call(...args);
      demandValid(method, response);
      return response;
    };
    return [method.localName, checked];
  });
  return Object.fromEntries(methods) as Client;
}

function demandValid(method: DescMethod, response: object): void {
  const { violations } = validator.validate(method.output, response as MessageShape<typeof method.output>);
  if (violations) assert.fail(`${method.name} answered what the contract does not allow: ${violations.join('; ')}`);
}
