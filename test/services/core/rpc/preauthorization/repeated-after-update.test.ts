import assert from 'node:assert/strict';
import { create } from '@bufbuild/protobuf';
import { CapabilitiesSchema } from '../../../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { forSuite } from '../../../../suite.ts';
import { approved } from '../../fake-processor.ts';
import { useScriptedStage } from '../../scripted-stage.ts';
import { openMerchant } from '../../shop.ts';

describe('a repeated call about a hold whose terms were updated', () => {
  const { scripted, processor } = useScriptedStage();
  const shop = forSuite(() => openMerchant(scripted.stage, 'renamed'));
  const holds = forSuite(() => scripted.stage.channel('gateway').holds);

  it('answers with the terms that it answered with first', async () => {
    const capabilities = create(CapabilitiesSchema, { increments: true, extension: true, partialRelease: true });
    processor.says.authorize = () => ({ ...approved, capabilities });
    const { requestId, preauthorizationId } = await shop.hold({ description: 'Room 1', metadata: { floor: '1' } });
    const call = (idempotencyKey: string) => ({ merchantId: 'renamed', preauthorizationId, idempotencyKey });
    const update = (description: string) => {
      const updateMask = { paths: ['description', 'metadata'] };
      return holds.updatePreauthorization({ merchantId: 'renamed', requestId, description, updateMask });
    };
    const acts = {
      increment: () => holds.incrementPreauthorization({ ...call('increment'), amountToAdd: 5n }),
      part: () => holds.partiallyReleasePreauthorization({ ...call('part'), amountToRelease: 7n }),
      extend: () => holds.extendPreauthorization(call('extend')),
      release: () => holds.releasePreauthorization(call('release')),
    };
    const increment = await acts.increment();
    const part = await acts.part();
    await update('Room 2');
    const extend = await acts.extend();
    const release = await acts.release();
    await update('Room 3');
    await update('Room 4');
    for (const [name, first] of Object.entries({ increment, part, extend, release })) {
      const { preauthorization, replayed } = await acts[name as keyof typeof acts]();
      assert.deepEqual([preauthorization, replayed], [first.preauthorization, true], name);
    }
    assert.equal(increment.preauthorization?.description, 'Room 1');
    assert.equal(release.preauthorization?.description, 'Room 2');
  });
});
