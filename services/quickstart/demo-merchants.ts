/** The two demo merchants: one contract allows several captures of a hold, the other a single one. */
import { randomBytes } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { asOperator, type Merchants } from './as-operator.ts';
import { readPrivateJson, writePrivateFile } from './data-dir.ts';
import { addressesOf, type House } from './house.ts';

const addresses = z.object({ webhookUrl: z.string(), internalUrl: z.string() });
const merchant = z.object({
  merchantId: z.string(),
  apiKey: z.string(),
  signingSecret: z.string(),
  /** The addresses that the launcher set last: others are somebody else's, and stay. */
  addresses: addresses.optional(),
});
const schema = z.object({ several: merchant, single: merchant });

/** The merchants and their credentials. */
export type DemoMerchants = z.output<typeof schema>;

/**
 * Returns the demo merchants of a DATA_DIR. Creates those that the database does not have, and stores their
 * credentials, which are shown only once; one whose API key was revoked gets another. Addresses that an earlier start
 * set follow the current ports; one that somebody else has set stays, and is reported.
 */
export async function keepDemoMerchants(house: House, report: (line: string) => void): Promise<DemoMerchants> {
  const file = `${house.dataDir}/merchants.json`;
  const kept = schema.partial().parse((await readPrivateJson(file)) ?? {});
  const operator = { coreUrl: addressesOf(house.ports).coreUrl, operatorToken: house.secrets.operatorToken };
  await asOperator(operator, async (merchants) => {
    for (const kind of ['several', 'single'] as const) {
      const contract = contractOf(house, kind === 'several');
      const known = await updated(merchants, kept[kind], contract, report);
      kept[kind] = known ?? (await created(merchants, kind, contract));
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
    allowOct: true,
    webhookUrl,
    internalUrl,
  };
}

type Contract = ReturnType<typeof contractOf>;
type Kind = keyof DemoMerchants;
type KeptMerchant = DemoMerchants[Kind];

/**
 * Updates the addresses of a stored merchant that are still ours, and its API key when that was revoked; undefined when
 * the database does not have it.
 */
async function updated(
  merchants: Merchants,
  kept: KeptMerchant | undefined,
  contract: Contract,
  report: (line: string) => void,
): Promise<KeptMerchant | undefined> {
  const merchant = kept && (await find(merchants, kept.merchantId));
  if (kept === undefined || merchant === undefined) return undefined;
  const { merchantId, name, contract: old, apiKeys } = merchant;
  const next = { ...(old ?? contract) };
  for (const address of ['webhookUrl', 'internalUrl'] as const) {
    const current = old?.[address];
    if (current === kept.addresses?.[address]) next[address] = contract[address];
    else if (current !== contract[address]) report(`${merchantId}: ${address} is ${current || 'empty'}, and stays so`);
  }
  if (next.webhookUrl !== old?.webhookUrl || next.internalUrl !== old?.internalUrl)
    await merchants.updateMerchant({ merchantId, name, contract: next });
  let { apiKey } = kept;
  if (!apiKeys.some(({ last4, revokedAt }) => revokedAt === undefined && apiKey.endsWith(last4))) {
    apiKey = (await merchants.createApiKey({ merchantId, managesWebhook: true })).key;
    report(`${merchantId}: its API key was revoked; it has a new one`);
  }
  return { ...kept, apiKey, addresses: addresses.parse(contract) };
}

/**
 * With a database that another DATA_DIR has used, the plain name is taken, by a merchant whose key only that folder
 * has.
 */
async function created(merchants: Merchants, kind: Kind, contract: Contract): Promise<KeptMerchant> {
  const taken = (await find(merchants, IDS[kind])) !== undefined;
  const merchantId = taken ? `${IDS[kind]}-${randomBytes(3).toString('hex')}` : IDS[kind];
  const own = { merchantId, name: NAMES[kind], contract, apiKeyManagesWebhook: true };
  const { apiKey, signingSecret } = await merchants.createMerchant(own);
  return { merchantId, apiKey, signingSecret, addresses: addresses.parse(contract) };
}

async function find(merchants: Merchants, merchantId: string) {
  try {
    return (await merchants.getMerchant({ merchantId })).merchant;
  } catch (error) {
    if ((error as { code?: number }).code === status.NOT_FOUND) return undefined;
    throw error;
  }
}
