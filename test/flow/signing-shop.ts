/** A merchant whose captures must be signed. */
import type { KeyObject } from 'node:crypto';
import { asOperator } from '../../services/quickstart/as-operator.ts';
import { openShop, type Shop } from '../../services/quickstart/shop.ts';
import { untilKnown } from '../../services/quickstart/until-served.ts';
import type { Stack } from '../stack.ts';

/** Creates the merchant, with its public key in the contract. */
export async function openSigningShop({ file }: Stack, merchantId: string, publicKey: KeyObject): Promise<Shop> {
  const contract = {
    currencies: ['EUR'],
    terminals: ['till-1'],
    allowMultipleCaptures: true,
    requireSignedCaptures: true,
    capturePublicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
  const merchant = { merchantId, name: 'Signs its captures', contract };
  const { apiKey } = await asOperator(file, (merchants) => merchants.createMerchant(merchant));
  await untilKnown(file.baseUrl, apiKey);
  return openShop({ ...file, apiKey });
}
