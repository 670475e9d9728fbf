/** The two demo merchants: one contract allows several captures of a hold, the other a single one. */
import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { asOperator, type Merchants } from './as-operator.ts';
import { addressesOf, type House } from './house.ts';
import { readPrivateJson, writePrivateFile } from './private-file.ts';

const merchant = z.object({ merchantId: z.string(), apiKey: z.string(), signingSecret: z.string() });
const schema = z.object({ several: merchant, single: merchant });

/** The merchants and their credentials. */
export type DemoMerchants = z.output<typeof schema>;

/**
 * Returns the demo merchants of a DATA_DIR. Creates those that the database does not have, stores their credentials, which are shown only
 * once, and updates the addresses of their webhooks to the current ports.
 */
export async function keepDemoMerchants(house: House): Promise<DemoMerchants> {
  const file = `${house.dataDir}/merchants.json`;
  const kept = schema.partial().parse((await readPrivateJson(file)) ?? {});
  const operator = { coreUrl: addressesOf(house.ports).coreUrl, operatorToken: house.secrets.operatorToken };
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

function contractOf({ ports }: House, allowMultipleCaptures: boolean) {
  const { baseUrl: webhookUrl, demoMerchantUrl: internalUrl } = addressesOf(ports);
  return {
    allowMultipleCaptures,
    holdPeriod: { seconds: 604_800n },
    currencies: ['EUR', 'USD', 'GBP', 'JPY', 'KWD'],
    terminals: ['till-1', 'till-2'],
    webhookUrl,
    internalUrl,
  };
}

type Kind = keyof DemoMerchants;
type KeptMerchant = DemoMerchants[Kind];

/** Updates the addresses of a stored merchant; undefined when the database does not have it. */
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

/** With a database that another DATA_DIR has used, the plain name is taken, by a merchant whose key only that folder has. */
async function created(
  merchants: Merchants,
  kind: Kind,
  contract: ReturnType<typeof contractOf>,
): Promise<KeptMerchant> {
  const taken = (await find(merchants, IDS[kind])) !== undefined;
  const merchantId = taken ? `${IDS[kind]}-${randomBytes(3).toString('hex')}` : IDS[kind];
  const { apiKey, signingSecret } = await merchants.createMerchant({
    ...{ merchantId, name: NAMES[kind], contract },
    apiKeyManagesWebhook: true,
  });
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
