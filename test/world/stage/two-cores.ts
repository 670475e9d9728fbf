/** Two cores in this process on one database, without workers. */
import { contract, openStage } from '../../services/core/stage.ts';

export type TwoCores = Awaited<ReturnType<typeof openTwoCores>>;

/** Starts them, with the merchant `acme`. */
export async function openTwoCores() {
  const stage = await openStage({ cores: 2 });
  const { merchants } = stage.channel('operator');
  await merchants.createMerchant({ merchantId: 'acme', name: 'Acme', contract: contract() });
  const sql = (text: string) => stage.database.query<{ id: string }>({ name: '', text }, []);
  return { ...stage, sql };
}
