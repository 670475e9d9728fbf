/**
 * A card processor with scripted answers, written against the contract. Calls without a script fail with UNAVAILABLE.
 */
import { randomUUID } from 'node:crypto';
import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { serviceDefinition } from '../../../platform/grpc-client.ts';
import {
  Answer,
  type CreateCheckoutRequest,
  type CreateCheckoutResponseSchema,
  type DescribeResponseSchema,
  Finding,
  type InquireRequest,
  ProcessorService,
  type ResultSchema,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { SubmissionMethod } from '../../../services/core/processor/processor.ts';

type Result = MessageInitShape<typeof ResultSchema>;
type Said<T> = T | undefined | Promise<T | undefined>;

/** The methods of the contract that submit an operation. */
type Submissions = {
  [M in SubmissionMethod]?: (request: MessageShape<(typeof ProcessorService.method)[M]['input']>) => Said<Result>;
};

/** The processor's answer; undefined = no answer. */
export interface Script extends Submissions {
  createCheckout?: (request: CreateCheckoutRequest) => Said<MessageInitShape<typeof CreateCheckoutResponseSchema>>;
  describe?: () => Said<MessageInitShape<typeof DescribeResponseSchema>>;
  inquire?: (request: InquireRequest) => Said<{ finding: Finding; result?: Result; fenced?: boolean }>;
}

export const approved: Result = { answer: Answer.APPROVED, reference: 'ref', bankReference: 'bank' };
export const declined: Result = { answer: Answer.DECLINED, errorCode: 'no', errorMessage: 'No.' };
export const notPerformed = (errorCode: string): Result => ({ answer: Answer.NOT_PERFORMED, errorCode });
/** Returns an ACCEPTED answer whose result is expected the given number of milliseconds after `now`. */
export const accepted = (nowMs: number, ms: number): Result => ({
  answer: Answer.ACCEPTED,
  expectedBy: timestampFromMs(nowMs + ms),
});
export const neverSeen = { finding: Finding.NEVER_SEEN, fenced: true };
export const atWork = { finding: Finding.AT_WORK };
export const done = (result: Result) => ({ finding: Finding.DONE, result });

/** The methods whose script is the whole answer. */
const WHOLE: ReadonlySet<string> = new Set(['inquire', 'createCheckout', 'describe']);

/** A running processor. `says` may change at any time; `heard` are the calls, oldest first. */
export interface FakeProcessor {
  readonly address: string;
  says: Script;
  /** What Describe says of it. */
  is: { name: string; identity: string; authorizations: object; stepUp: boolean; renewals: boolean };
  readonly heard: { readonly method: string; readonly requestId: string; readonly authorizationRequestId: string }[];
  /** Breaks its connections and listens at the same address again. */
  restart(): Promise<void>;
  close(): void;
}

/** Starts one on a free port. */
export async function startFakeProcessor(): Promise<FakeProcessor> {
  let server: Server;
  const heard: FakeProcessor['heard'] = [];
  const fake = {
    says: {} as Script,
    is: { name: 'fake', identity: randomUUID() as string, authorizations: {}, stepUp: true, renewals: true },
  };
  const handlers = ProcessorService.methods.map((method) => [
    method.localName,
    async (call: ServerUnaryCall<InquireRequest, object>, callback: sendUnaryData<object>) => {
      const { requestId = '', authorizationRequestId = '' } = call.request as unknown as Record<string, string>;
      if (method.localName !== 'describe') heard.push({ method: method.localName, requestId, authorizationRequestId });
      const script = fake.says[method.localName as keyof Script] as ((request: object) => Said<object>) | undefined;
      if (method.localName === 'describe' && !script)
        return callback(null, create(method.output, { ...fake.is, authorizations: {} } as never));
      const said = await Promise.resolve(script?.(call.request)).catch((error: ServiceError) => error);
      if (said instanceof Error) return callback(said);
      if (!said) return callback({ code: status.UNAVAILABLE, details: 'no answer' });
      const whole = WHOLE.has(method.localName) ? said : { result: said };
      callback(null, create(method.output, whole as never));
    },
  ]);
  const open = async (port: number): Promise<number> => {
    server = new Server();
    server.addService(serviceDefinition(ProcessorService), Object.fromEntries(handlers));
    return new Promise((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
  };
  const port = await open(0);
  return Object.assign(fake, {
    address: `127.0.0.1:${port}`,
    heard,
    async restart() {
      server.forceShutdown();
      await open(port);
    },
    close: () => server.forceShutdown(),
  });
}
