/**
 * Places a hold with Connect and the generated contract, and follows the stream of results until its own is there.
 *   CONNECT_URL=http://127.0.0.1:50052 TOKEN=… MERCHANT_ID=… npx node docs/examples/grpc/connect-client.ts
 */
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { OperationService } from '../../../proto/gen/holdfast/v1/operation_pb.js';
import { PreauthorizationService } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';

const { CONNECT_URL = '', TOKEN, MERCHANT_ID: merchantId = '' } = process.env;
const authenticated: Interceptor = (next) => (request) => {
  request.header.set('authorization', `Bearer ${TOKEN}`);
  return next(request);
};
const transport = createConnectTransport({ baseUrl: CONNECT_URL, httpVersion: '2', interceptors: [authenticated] });
const holds = createClient(PreauthorizationService, transport);
const operations = createClient(OperationService, transport);

const stop = new AbortController();
const results = operations.watchOperations({ merchantId }, { signal: stop.signal })[Symbol.asyncIterator]();
// The first message is a heartbeat: keep its resumeToken, and pass it to go on from there after a break.
await results.next();

const { preauthorization } = await holds.createPreauthorization(
  { merchantId, tokenId: 'tok_sandbox_ok', amount: 2500n, currency: 'EUR', terminalId: 'till-1', userId: 'user-1' },
  { timeoutMs: 10_000 },
);
for (;;) {
  const { value } = await results.next();
  if (value.operation?.requestId !== preauthorization?.requestId) continue;
  process.stdout.write(`${value.operation.statusInfo} ${value.operation.amount} ${value.operation.currency}\n`);
  break;
}
stop.abort();
