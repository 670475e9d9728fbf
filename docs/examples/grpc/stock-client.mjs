/**
 * Places and captures a hold with nothing but @grpc/grpc-js, @grpc/proto-loader and the .proto files.
 *   CORE_URL=127.0.0.1:50051 TOKEN=… MERCHANT_ID=… node docs/examples/grpc/stock-client.mjs
 */
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const { CORE_URL, TOKEN, MERCHANT_ID } = process.env;
const includeDirs = [fileURLToPath(new URL('../../../proto', import.meta.url))];
// int64 as string: an amount has up to 12 digits, but a number may not be what another message needs.
const contract = loadSync('holdfast/v1/preauthorization.proto', { includeDirs, longs: String, enums: String });
const { PreauthorizationService } = loadPackageDefinition(contract).holdfast.v1;
const client = new PreauthorizationService(CORE_URL, credentials.createInsecure());

const metadata = new Metadata();
metadata.set('authorization', `Bearer ${TOKEN}`);
const call = (method, request) =>
  new Promise((resolve, reject) => {
    const deadline = Date.now() + 10_000;
    client[method](request, metadata, { deadline }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });

const { preauthorization } = await call('CreatePreauthorization', {
  merchantId: MERCHANT_ID,
  tokenId: 'tok_sandbox_ok',
  amount: '2500',
  currency: 'EUR',
  terminalId: 'till-1',
  userId: 'user-1',
  idempotencyKey: `hold-${Date.now()}`,
});
const { capture } = await call('CapturePreauthorization', {
  merchantId: MERCHANT_ID,
  preauthorizationId: preauthorization.preauthorizationId,
  amountToCapture: '1000',
});
process.stdout.write(`held ${preauthorization.amount} ${preauthorization.currency}, captured ${capture.amount}\n`);
client.close();
