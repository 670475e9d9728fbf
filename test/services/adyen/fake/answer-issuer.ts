/** `node test/services/adyen/fake/answer-issuer.ts URL confirm|refuse`: a customer from the page on to the way back. */
import { answerIssuer, goOn, open } from './customer.ts';

const [url = '', does] = process.argv.slice(2);
const { location } = await goOn(url);
if (location !== undefined) await open(await answerIssuer(location, does === 'confirm' ? 'confirm' : 'refuse'));
