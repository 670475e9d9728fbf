/** Two merchants to play with: one contract allows several captures of a hold, the other a single one. */
import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { asOperator, type Merchants } from './as-operator.ts';
import { readPrivateJson, writePrivateFile } from './private-file.ts';
import { baseUrl, coreUrl, demoMerchantUrl, type House } from './processes.ts';

const merchant = z.object({ merchantId: z.string(), apiKey: z.string(), signingSecret: z.string() });
const schema = z.object({ several: merchant, single: merchant });

/** The merchants and what they prove themselves with. */
export type DemoMerchants = z.output<typeof schema>;

/**
 * Answers the demo merchants of a DATA_DIR: creates those that the database does not know, and keeps what is shown only once.
 * Where they are notified follows the present ports.
 */
export async function keepDemoMerchants(house: House): Promise<DemoMerchants> {
  const file = `${house.dataDir}/merchants.json`;
  const kept = schema.partial().parse((await readPrivateJson(file)) ?? {});
  const operator = { coreUrl: coreUrl(house.ports), operatorToken: house.secrets.operatorToken };
  await asOperator(operator, async (merchants) => {
    for (const kind of ['several', 'single'] as const) {
      const contract = contractOf(house, kind === 'several');
      kept[kind] = (await updated(merchants, kept[kind], contract)) ?? (await created(merchants, kind, contract));
      await writePrivateFile(file, `${JSON.stringify(kept, null, 2)}\n`);
    }
  });
  return schema.parse(kept);
}

const NAMES = { several: 'Demo merchant', single: 'Demo merchant, single capture' } as const;
const IDS = { several: 'demo', single: 'demo-single' } as const;

function contractOf(house: House, allowMultipleCaptures: boolean) {
  return {
    allowMultipleCaptures,
    holdPeriod: { seconds: 604_800n },
    currencies: ['EUR', 'USD', 'GBP', 'JPY', 'KWD'],
    terminals: ['till-1', 'till-2'],
    webhookUrl: baseUrl(house.ports),
    internalUrl: demoMerchantUrl(house.ports),
  };
}

type Kind = keyof DemoMerchants;
type KeptMerchant = DemoMerchants[Kind];

/** The merchant as it is kept, once its addresses are right; undefined when the database does not know it. */
async function updated(merchants: Merchants, kept: KeptMerchant | undefined, contract: ReturnType<typeof contractOf>) {
  if (kept === undefined) return undefined;
  const merchant = await find(merchants, kept.merchantId);
  if (merchant === undefined) return undefined;
  const { webhookUrl, internalUrl } = contract;
  const old = merchant.contract;
  if (old === undefined || old.webhookUrl !== webhookUrl || old.internalUrl !== internalUrl) {
    const { merchantId, name } = merchant;
    await merchants.updateMerchant({ merchantId, name, contract: { ...(old ?? contract), webhookUrl, internalUrl } });
  }
  return kept;
}

/** A database that another DATA_DIR used knows the plain name already, with a key that only that folder has. */
async function created(
  merchants: Merchants,
  kind: Kind,
  contract: ReturnType<typeof contractOf>,
): Promise<KeptMerchant> {
  const taken = (await find(merchants, IDS[kind])) !== undefined;
  const merchantId = taken ? `${IDS[kind]}-${randomBytes(3).toString('hex')}` : IDS[kind];
  const { apiKey, signingSecret } = await merchants.createMerchant({ merchantId, name: NAMES[kind], contract });
  return { merchantId, apiKey, signingSecret };
}

async function find(merchants: Merchants, merchantId: string) {
  try {
    return (await merchants.getMerchant({ merchantId })).merchant;
  } catch (error) {
    if ((error as { code?: number }).code === status.NOT_FOUND) return undefined;
    throw error;
  }
}
