/** The process of the demo merchant's backend. */
import { runProcess } from '../../platform/run-process.ts';
import { startMerchant } from './merchant.ts';
import { MERCHANT_SETTINGS } from './settings.ts';

await runProcess('merchant', MERCHANT_SETTINGS, startMerchant);
