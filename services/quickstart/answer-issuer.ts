/** `node services/quickstart/answer-issuer.ts URL confirm|refuse`: a customer at the sandbox's page of an issuer. */
import { answerIssuer } from './customer.ts';

const [url = '', does] = process.argv.slice(2);
await answerIssuer(url, does === 'confirm' ? 'pass' : 'fail');
