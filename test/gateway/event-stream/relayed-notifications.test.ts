import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { NotificationKind } from '../../../proto/gen/holdfast/v1/notification_pb.js';
import { WatchRelayedNotificationsResponseSchema } from '../../../proto/gen/holdfast/v1/relay_pb.js';
import { API_KEY, useStage } from '../stage.ts';
import { eventsOf } from './event-stream.ts';

describe('GET /relayed-notifications/stream', () => {
  const stage = useStage();
  const { core } = stage;

  it('sends what the relay has verified in the name of the key, with the bytes of bodies in Base64', async () => {
    core.onWatch = () => undefined;
    const watching = core.nextWatch();
    const leaving = new AbortController();
    const senderId = '0199a1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b';
    const asked = stage.fetch('GET', `/relayed-notifications/stream?senderId=${senderId.toUpperCase()}`, {
      headers: { 'last-event-id': 't41' },
      apiKey: API_KEY,
      signal: leaving.signal,
    });
    const call = await watching;
    const { method, apiKeySha256 } = core.calls.at(-1) ?? {};
    assert.deepEqual([method, core.lastRequest.resumeToken], ['watchRelayedNotifications', 't41']);
    assert.deepEqual([core.lastRequest.merchantId, core.lastRequest.senderId], ['acme', senderId]);
    assert.equal(apiKeySha256, createHash('sha256').update(API_KEY).digest('base64'));
    const notification = {
      merchantId: 'acme',
      senderId,
      kind: NotificationKind.RELAY,
      requestId: `${senderId}:x`,
      identifier: 'x',
      body: Buffer.from([0x00, 0xff]),
      headers: [{ name: 'x-github-event', value: 'ping' }],
      acceptedAt: { seconds: 0n },
    };
    call.write(create(WatchRelayedNotificationsResponseSchema, { notification, resumeToken: 't42' }) as never);
    const events = eventsOf(await asked);
    await events.next();
    const { id, event, data } = (await events.next()).value ?? assert.fail();
    assert.deepEqual([id, event], ['t42', 'notification']);
    assert.deepEqual(JSON.parse(data ?? ''), {
      ...{ merchantId: 'acme', senderId, kind: 'RELAY', requestId: `${senderId}:x`, identifier: 'x' },
      ...{ body: 'AP8=', bodyPurged: false, headers: { 'x-github-event': 'ping' } },
      acceptedAt: '1970-01-01T00:00:00.000Z',
    });
    leaving.abort();
  });

  it('takes the id of a sender only in its form', async () => {
    for (const query of ['senderId=github', 'senderId=', 'merchantId=bolt']) {
      const { status: answered } = await stage.ask('GET', `/relayed-notifications/stream?${query}`);
      assert.equal(answered, 400, query);
    }
  });
});
