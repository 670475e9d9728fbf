/** A core with two processors on a manual clock, in this process, whose database can go back to any moment. */
import { openMerchant } from '../../services/core/shop.ts';
import { openStage } from '../../services/core/stage.ts';
import { rememberBeginning } from '../../services/core/time-machine.ts';

export type TwoProcessors = Awaited<ReturnType<typeof openTwoProcessors>>;

/** The contract of the merchant who moves between the processors. */
export const MOVING = { holdPeriod: { seconds: 5_400n } };

/** Starts them, with a merchant of the first processor and one who moves between both. */
export async function openTwoProcessors() {
  const stage = await openStage({ second: 'second' });
  const terms = { processor: 'first', webhookUrl: 'https://staying.example/hooks', notifyHolds: true };
  const staying = await openMerchant(stage, 'staying', terms);
  const moving = await openMerchant(stage, 'moving', { ...MOVING, processor: 'second' });
  return { ...stage, staying, moving, beginAnew: await rememberBeginning(stage) };
}
