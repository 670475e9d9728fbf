/** Two merchants to play with: one contract allows several captures of a hold, the other a single one. */
import { randomBytes } from 'node:crypto';
import { credentials, status } from '@grpc/grpc-js';
import { z } from 'zod';
import { MerchantService } from '../../proto/gen/holdfast/v1/merchant_pb.js';
import { type GrpcClient, openChannel } from '../../proto/grpc.ts';
import { readPrivateJson, writePrivateFile } from './private-file.ts';
import { baseUrl, coreUrl, demoMerchantUrl, type House } from './processes.ts';

const merchant = z.object({ merchantId: z.string(), apiKey: z.string(), signingSecret: z.string() });
const schema = z.object({ several: merchant, single: merchant });

/** The merchants and what they prove themselves with. */
export type DemoMerchants = z.output<typeof schema>;

type Client = GrpcClient<typeof MerchantService>;

/**
 * Answers the demo merchants of a DATA_DIR: creates those that the database does not know, and keeps what is shown only once.
 * Where they are notified follows the present ports.
 */
export async function keepDemoMerchants(house: House): Promise<DemoMerchants> {
  const file = `${house.dataDir}/merchants.json`;
  const kept = schema.partial().parse((await readPrivateJson(file)) ?? {});
  const channel = openChannel({
    address: coreUrl(house.ports),
    credentials: credentials.createInsecure(),
    token: house.secrets.operatorToken,
    timeoutMs: 10_000,
  });
  try {
    const client = channel.client(MerchantService);
    for (const kind of ['several', 'single'] as const) {
      const contract = contractOf(house, kind === 'several');
      kept[kind] = (await updated(client, kept[kind], contract)) ?? (await created(client, kind, contract));
      await writePrivateFile(file, `${JSON.stringify(kept, null, 2)}\n`);
    }
    return schema.parse(kept);
  } finally {
    channel.close();
  }
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
async function updated(client: Client, kept: KeptMerchant | undefined, contract: ReturnType<typeof contractOf>) {
  if (kept === undefined) return undefined;
  const merchant = await find(client, kept.merchantId);
  if (merchant === undefined) return undefined;
  const { webhookUrl, internalUrl } = contract;
  const old = merchant.contract;
  if (old === undefined || old.webhookUrl !== webhookUrl || old.internalUrl !== internalUrl) {
    const { merchantId, name } = merchant;
    await client.updateMerchant({ merchantId, name, contract: { ...(old ?? contract), webhookUrl, internalUrl } });
  }
  return kept;
}

/** A database that another DATA_DIR used knows the plain name already, with a key that only that folder has. */
async function created(client: Client, kind: Kind, contract: ReturnType<typeof contractOf>): Promise<KeptMerchant> {
  const taken = (await find(client, IDS[kind])) !== undefined;
  const merchantId = taken ? `${IDS[kind]}-${randomBytes(3).toString('hex')}` : IDS[kind];
  const { apiKey, signingSecret } = await client.createMerchant({ merchantId, name: NAMES[kind], contract });
  return { merchantId, apiKey, signingSecret };
}

async function find(client: Client, merchantId: string) {
  try {
    return (await client.getMerchant({ merchantId })).merchant;
  } catch (error) {
    if ((error as { code?: number }).code === status.NOT_FOUND) return undefined;
    throw error;
  }
}
