import { type Html, html } from '../../../platform/html.ts';

/** Every text of the page. */
export const WORDS = {
  sandbox: 'Sandbox: no real money',
  reserve: (amount: string) => `Reserve ${amount}`,
  nothingCharged: (merchant: string) => `${merchant} reserves this amount on your card. Nothing is charged now.`,
  order: 'Order',
  cardTitle: 'Your card',
  cardNumber: 'Card number',
  expiry: 'Expiry date',
  expiryHint: 'Month / year, like 08/31',
  code: 'Security code',
  codeHint: '3 or 4 digits on the card',
  savesCard: (merchant: string) => `${merchant} will keep a token of this card for later payments.`,
  submit: (amount: string) => `Reserve ${amount}`,
  cancel: 'Cancel',
  cancelAndReturn: (merchant: string) => `Cancel and return to ${merchant}`,
  closesAt: (time: Html) => html`This page closes at ${time}.`,
  staysHere: (merchant: string) => `Your card number goes to the card processor only. ${merchant} does not see it.`,
  correct: 'Please correct',
  /** What can be wrong with a field. */
  errors: {
    numberMissing: 'Enter the card number.',
    numberLength: 'A card number has 13 to 19 digits.',
    numberInvalid: 'This card number is not valid. Check its digits.',
    numberReal: 'This is a sandbox: use one of the test cards listed below, never a real one.',
    expiryMissing: 'Enter the expiry date.',
    expiryFormat: 'Write the expiry date as month and year, like 08/31.',
    expiryPast: 'This card has expired.',
    expiryFar: 'This date is too far in the future.',
    codeMissing: 'Enter the security code.',
    codeOfFour: 'This card has a code of four digits.',
    codeOfThree: 'This card has a code of three digits.',
    codeLength: 'The security code has three or four digits.',
  },
  declinedTitle: 'Card declined',
  /** Why a card was declined, as the ledger keeps it. */
  declined: {
    do_not_honor: (last4: string) => `The bank declined the card ending in ${last4}. Nothing was reserved.`,
    insufficient_funds: (last4: string) => `The account of the card ending in ${last4} has insufficient funds.`,
    token_invalid: (last4: string) => `The bank does not know the card ending in ${last4}.`,
    challenge_failed: (last4: string) =>
      `The payment with the card ending in ${last4} was not confirmed with its bank.`,
    no_answer: (last4: string) => `The bank of the card ending in ${last4} did not answer. Nothing was reserved.`,
  },
  tryAnother: 'Try again or use another card.',
  challenge: {
    title: 'Confirm with your bank',
    ask: (merchant: string, amount: string, last4: string) =>
      `Your bank asks whether you reserve ${amount} for ${merchant} with the card ending in ${last4}.`,
    sandbox: "This page stands for your bank's: choose what it answers.",
    pass: 'Confirm',
    fail: 'Refuse',
  },
  /** How a checkout ended. */
  ended: {
    approved: {
      title: 'Reserved',
      message: (merchant: string, amount: string) => `${amount} is reserved for ${merchant}. Nothing is charged now.`,
    },
    failed: {
      title: 'Not reserved',
      message: (merchant: string) =>
        `The card processor had a problem. Nothing was reserved. Ask ${merchant} for a new page.`,
    },
    expired: { title: 'Page closed', message: () => 'The time to enter a card is over. Nothing was reserved.' },
    cancelled: { title: 'Cancelled', message: () => 'This checkout was cancelled. Nothing was reserved.' },
  },
  returnTo: (merchant: string) => `Return to ${merchant}`,
  canClose: 'You can close this page.',
  unknownCheckout: {
    title: 'Checkout not found',
    message: 'Check the address, or ask the merchant for a new one.',
  },
  unknownPage: { title: 'Page not found', message: 'There is nothing here.' },
  notAccepted: 'Not accepted',
  /** Why a form is not accepted. */
  refusals: {
    foreign: 'This form was not sent from our page. Open the address again.',
    wrongType: 'Only the form of this page is accepted.',
    tooLarge: 'The form is too large.',
  },
  testCards: {
    title: 'Test cards',
    hint: 'Use any future expiry date and any security code.',
    number: 'Number',
    effect: 'What happens',
    fourDigitCode: '4-digit code',
    challenge: 'Approved when confirmed with the bank',
  },
};

export type Message = typeof WORDS.unknownPage;
export type FieldError = keyof typeof WORDS.errors;
export type Decline = keyof typeof WORDS.declined;
export type Ended = keyof typeof WORDS.ended;
export type Refusal = keyof typeof WORDS.refusals;
