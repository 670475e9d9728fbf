import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { credentials } from '@grpc/grpc-js';
import { v7 as uuidv7 } from 'uuid';
import { openChannel } from '../../../../platform/grpc-client.ts';
import { ProcessorEventService } from '../../../../proto/gen/holdfast/processor/v1/event_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { openProcessors } from '../../../../services/core/processor/processors.ts';
import { freePort } from '../../../../services/quickstart/ports.ts';
import { type Sandbox, startSandbox } from '../../../../services/sandbox/sandbox.ts';
import { type Certificates, makeCertificates } from '../../../certificates.ts';
import { approved } from '../fake-processor.ts';
import { openMerchant, type Shop } from '../shop.ts';
import { openStage, type Stage, why } from '../stage.ts';

const OWN_CREDENTIAL = 'of-the-other-alone.shown-by-core.0123456789';
const OWN_TOKEN = 'of-the-other-alone.shown-to-core.0123456789';

describe('a processor with settings of its own', () => {
  let directory: string;
  let certificates: Certificates;
  let stage: Stage;
  let other: Sandbox;
  let acme: Shop;
  let beta: Shop;

  before(async () => {
    directory = await mkdtemp(`${tmpdir()}/holdfast-own-`);
    certificates = await makeCertificates();
    const port = await freePort();
    stage = await openStage({
      beside: { 'other-eu': `127.0.0.1:${port}` },
      environment: {
        PROCESSOR_OTHER_EU_CREDENTIAL: OWN_CREDENTIAL,
        PROCESSOR_OTHER_EU_TOKEN: OWN_TOKEN,
        PROCESSOR_OTHER_EU_TLS_CA: certificates.ca,
        PROCESSOR_OTHER_EU_TLS_CERT: certificates.client.cert,
        PROCESSOR_OTHER_EU_TLS_KEY: certificates.client.key,
      },
    });
    const settings = {
      HOST: '127.0.0.1',
      SANDBOX_PORT: port,
      CHECKOUT_PORT: 0,
      SANDBOX_LEDGER: `${directory}/ledger.sqlite`,
      CORE_URL: `127.0.0.1:${stage.cores[0]?.corePort}`,
      PROCESSOR_TOKEN: OWN_TOKEN,
      PROCESSOR_CREDENTIAL: OWN_CREDENTIAL,
      SANDBOX_TLS_CERT: certificates.server.cert,
      SANDBOX_TLS_KEY: certificates.server.key,
      SANDBOX_TLS_CLIENT_CA: certificates.ca,
      LOG_LEVEL: 'silent',
    } as const;
    other = await startSandbox(settings, { clock: stage.clock, silenceMs: 0 });
    acme = await openMerchant(stage, 'acme');
    beta = await openMerchant(stage, 'beta', { processor: 'other-eu' });
    // Core has looked for it before it was there, and looks again soon.
    while ((await beta.place()).state !== OperationState.OK);
  });
  after(async () => {
    await stage.close();
    await other.close();
    await certificates.close();
    await rm(directory, { recursive: true });
  });

  it('is called with them, and other processors with theirs', async () => {
    await beta.capture(await beta.hold(), 1_000n);
    await acme.capture(await acme.hold(), 1_000n);
  });

  it('rejects another credential, and calls without its own client certificate', async () => {
    const found = async (changed: object) => {
      const processors = openProcessors({ ...stage.settings, ...changed });
      const inquired = { requestId: uuidv7(), merchantId: 'beta', processorAccount: '' };
      const answer = await processors.of({ processor: 'other-eu' }).inquire(inquired);
      processors.close();
      return answer.found;
    };
    assert.equal(await found({}), 'NEVER_SEEN');
    const { FIRST = '' } = stage.settings['PROCESSOR_<NAME>_CREDENTIAL'] ?? {};
    const swapped = { FIRST: OWN_CREDENTIAL, OTHER_EU: FIRST };
    assert.equal(await found({ 'PROCESSOR_<NAME>_CREDENTIAL': swapped }), 'NO_ANSWER');
    const anonymous = { 'PROCESSOR_<NAME>_TLS_CERT': undefined, 'PROCESSOR_<NAME>_TLS_KEY': undefined };
    assert.equal(await found(anonymous), 'NO_ANSWER');
    const untrusting = { ...stage.settings, 'PROCESSOR_<NAME>_TLS_CA': undefined };
    assert.throws(() => openProcessors(untrusting), /PROCESSOR_OTHER_EU_TLS_CERT needs PROCESSOR_OTHER_EU_TLS_CA/);
  });

  it('reports on its own operations only; those of others do not exist for it', async () => {
    const [own, foreign] = [await lostCapture(beta), await lostCapture(acme)];
    const common = stage.tokens.processor;
    for (const [token, requestId] of [
      [OWN_TOKEN, foreign],
      [common, own],
    ] as const) {
      assert.equal(await why(report(token, requestId)), 'OPERATION_NOT_FOUND');
    }
    assert.equal(await stateOf(beta, own), OperationState.UNKNOWN);
    assert.equal(await stateOf(acme, foreign), OperationState.UNKNOWN);
    await report(OWN_TOKEN, own);
    await report(common, foreign);
    assert.equal(await stateOf(beta, own), OperationState.OK);
    assert.equal(await stateOf(acme, foreign), OperationState.OK);
  });

  async function lostCapture(shop: Shop): Promise<string> {
    const hold = await shop.hold({ tokenId: 'tok_sandbox_capture_timeout_applied' });
    const { capture } = await shop.capture(hold, 1_000n);
    assert.equal(capture?.state, OperationState.UNKNOWN);
    return capture.requestId;
  }

  async function report(token: string, requestId: string): Promise<void> {
    const address = `127.0.0.1:${stage.cores[0]?.corePort}`;
    const channel = openChannel({ address, credentials: credentials.createInsecure(), token, timeoutMs: 5_000 });
    try {
      const event = { case: 'operationSettled', value: { requestId, result: approved } } as const;
      await channel.client(ProcessorEventService).reportEvent({ eventId: uuidv7(), occurredAt: timestampNow(), event });
    } finally {
      channel.close();
    }
  }

  const stateOf = async ({ operations, merchantId }: Shop, requestId: string) =>
    (await operations.getOperation({ merchantId, requestId })).operation?.state;
});
