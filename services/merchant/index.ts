/** The demo merchant's backend: settings, start, stop. */
import { captureOutput, openLog } from '../../proto/log.ts';
import { startMerchant } from './merchant.ts';
import { readSettings } from './settings.ts';

try {
  const settings = readSettings(process.env);
  const log = openLog('merchant', settings.LOG_LEVEL);
  captureOutput(log);
  const merchant = await startMerchant(settings, log);
  const stop = () => void merchant.close().then(() => process.exit(0));
  process.once('SIGTERM', stop).once('SIGINT', stop).once('disconnect', stop);
  log.info('ready', { port: merchant.port });
  process.send?.({ ready: true });
} catch (error) {
  process.stderr.write(`merchant: ${(error as Error).message}\n`);
  process.exit(1);
}
