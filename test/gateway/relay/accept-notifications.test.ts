import assert from 'node:assert/strict';
import { credentials } from '@grpc/grpc-js';
import { type Acceptable, openAccept } from '../../../gateway/relay/store-notification.ts';
import { openChannel } from '../../../platform/grpc-client.ts';
import { AcceptOutcome, NotificationService } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { notification as verified } from '../../services/core/rpc/notification/verified.ts';
import { type FakeCore, startFakeCore } from './fake-core.ts';
import { notification, openStage } from './stage.ts';

describe('openAccept()', () => {
  let core: FakeCore;
  let channel: ReturnType<typeof openChannel>;

  beforeEach(async () => {
    core = await startFakeCore();
    const address = `127.0.0.1:${core.port}`;
    channel = openChannel({ address, credentials: credentials.createInsecure(), token: 'test', timeoutMs: 20_000 });
  });
  afterEach(async () => {
    channel.close();
    await core.close();
  });

  const acceptable = (requestId: string, change: Partial<Acceptable> = {}): Acceptable =>
    verified(requestId, { merchantId: 'acme', ...change });
  const names = (count: number) => Array.from({ length: count }, (_, index) => `R${index}`);

  it('sends a lone notification by itself, and waiting ones together, each once', async () => {
    const accept = openAccept(channel.client(NotificationService));
    const outcomes = await Promise.all(names(200).map((requestId) => accept(acceptable(requestId))));
    assert(outcomes.every((outcome) => outcome === AcceptOutcome.STORED));
    assert.deepEqual(core.accepted.map(({ requestId }) => requestId).sort(), names(200).sort());
    assert(core.batches.length > 0);
    assert(core.batches.every((size) => size > 1 && size <= 15));
    const batches = core.batches.length;
    assert.equal(await accept(acceptable('R0')), AcceptOutcome.DUPLICATE);
    assert.equal(core.batches.length, batches);
  });

  it('reports which of them could not be stored', async () => {
    core.unstorable = 'R9';
    const accept = openAccept(channel.client(NotificationService));
    const outcomes = await Promise.all(names(20).map((requestId) => accept(acceptable(requestId))));
    assert.deepEqual(
      outcomes,
      names(20).map((requestId) => (requestId === 'R9' ? AcceptOutcome.UNSPECIFIED : AcceptOutcome.STORED)),
    );
  });

  it('isolates a notification that core refuses from the rest of its batch', async () => {
    const accept = openAccept(channel.client(NotificationService));
    const sent = names(20).map((requestId) => accept(acceptable(requestId, requestId === 'R9' ? { status: '?' } : {})));
    const ends = await Promise.allSettled(sent);
    assert.deepEqual(
      ends.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
      [9],
    );
    assert.equal(core.accepted.length, 19);
  });
});

describe('the relay under many notifications at once', () => {
  it('returns 503 only for the one that core could not store', async () => {
    await using closing = new AsyncDisposableStack();
    const stage = await openStage();
    closing.defer(() => stage.close());
    stage.core.unstorable = 'R9';
    const sent = Array.from({ length: 30 }, (_, index) => stage.send(notification({ requestId: `R${index}` })));
    const answers = await Promise.all(sent);
    assert.deepEqual(
      answers.map(({ status }) => status),
      answers.map((_, index) => (index === 9 ? 503 : 200)),
    );
    assert.equal(stage.core.accepted.length, 29);
  });
});
