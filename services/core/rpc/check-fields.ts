import { code as currencyOf } from 'currency-codes';
import type { MerchantRow } from '../storage/merchant.ts';
import type { Core } from './core.ts';
import { invalidField, invalidRequest, type Violation } from './refuse.ts';

/** Collects what is wrong with a request beyond what its schema says, and refuses it naming every field. */
export class FieldCheck {
  readonly #violations: Violation[] = [];

  add(field: string, description: string): void {
    this.#violations.push({ field, description });
  }

  /** Free text: no card number. */
  text(field: string, value: string | undefined): void {
    if (value === undefined) return;
    if (isCardNumber(value)) this.add(field, 'must not be a card number');
  }

  currency(field: string, value: string, contract: MerchantRow): void {
    if (!currencyOf(value)) this.add(field, 'is not an ISO 4217 currency');
    else if (!contract.currencies.includes(value)) this.add(field, 'is not allowed by the contract');
  }

  terminal(field: string, value: string, contract: MerchantRow): void {
    if (!contract.terminals.includes(value)) this.add(field, 'is not a terminal of the merchant');
  }

  url(field: string, value: string | undefined): void {
    if (value === undefined || isReturnUrl(value)) return;
    this.add(field, 'must be an https address (http only for loopback)');
  }

  /** Errors: INVALID_REQUEST when anything was added. */
  refuse(): void {
    if (this.#violations.length > 0) throw invalidRequest(this.#violations);
  }
}

/** The contract of the merchant that a request names. Errors: INVALID_REQUEST when there is no such merchant. */
export async function contractOf(core: Core, merchantId: string): Promise<MerchantRow> {
  const contract = await core.contracts.find(merchantId);
  if (!contract) throw invalidField('merchant_id', 'there is no such merchant');
  return contract;
}

/** Whether a text is a run of 13 to 19 digits, spaces and dashes between them aside, that passes the Luhn check. */
function isCardNumber(text: string): boolean {
  return /^\s*\d(?:[ -]?\d){12,18}\s*$/.test(text) && isLuhnValid(text.replace(/\D/g, ''));
}

function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function isReturnUrl(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || url.username + url.password !== '') return false;
  const { protocol, hostname } = url;
  const loopback = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && loopback);
}
