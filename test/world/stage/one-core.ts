/** One core with its worker and processor, in processes that can be killed, and a client of it. */
import { PreauthorizationService } from '../../../proto/gen/holdfast/v1/preauthorization_pb.js';
import { openDeployment } from '../../torture/deployment/deployment.ts';

export type OneCore = Awaited<ReturnType<typeof openOneCore>>;

/** Starts everything, with the merchant `acme`. */
export async function openOneCore() {
  const options = { cores: 1, environment: { PROCESSOR_TIMEOUT_MS: '1000' } };
  const deployment = await openDeployment({ acme: true }, options);
  const channel = deployment.openCore();
  return {
    ...deployment,
    holds: channel.client(PreauthorizationService),
    async close(): Promise<void> {
      channel.close();
      await deployment.close();
    },
  };
}
