import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { openChannel } from '../../../../../platform/grpc-client.ts';
import type { LogFields } from '../../../../../platform/log.ts';
import { channelSecurity } from '../../../../../platform/tls.ts';
import { OctService } from '../../../../../proto/gen/holdfast/v1/oct_pb.js';
import { startCore } from '../../../../../services/core/start/start-core.ts';
import { forSuite } from '../../../../suite.ts';
import { sql } from '../../shop.ts';
import { openStage } from '../../stage.ts';

describe('what core logs of a call', () => {
  const stage = forSuite(openStage);

  it('is the class, code and frames of an unexpected error, without its message', async () => {
    const lines: { level: string; event: string; fields: LogFields }[] = [];
    const keep =
      (level: string) =>
      (event: string, fields: LogFields = {}) =>
        void lines.push({ level, event, fields });
    const log = { info: keep('info'), warn: keep('warn'), error: keep('error') };
    await using stack = new AsyncDisposableStack();
    const core = await startCore({ ...stage.settings, CORE_PORT: 0, CONNECT_PORT: 0 }, { log });
    stack.defer(() => core.close());
    const address = `127.0.0.1:${core.corePort}`;
    const channel = openChannel({
      address,
      token: stage.tokens.internal,
      timeoutMs: 5_000,
      ...channelSecurity(undefined),
    });
    stack.defer(() => channel.close());
    await sql(stage, 'alter table submission rename to submission_away');
    stack.defer(async () => void (await sql(stage, 'alter table submission_away rename to submission')));

    const requestId = '0192f0c1-0000-7000-8000-000000000000';
    const asked = channel.client(OctService).getOct({ merchantId: 'acme', requestId });
    await assert.rejects(asked, { code: status.INTERNAL, details: 'internal error' });

    const line = lines.find(({ event }) => event === 'rpc');
    assert.equal(line?.level, 'error');
    const { method, code, errorCode, stack: frames } = line.fields;
    assert.deepEqual([method, code, errorCode], ['holdfast.v1.OctService/GetOct', 'Internal', '42P01']);
    assert.match(String(frames), /services\/core\/rpc\/oct\//);
    assert.doesNotMatch(JSON.stringify(line), /submission_away|does not exist|0192f0c1/);
  });
});
