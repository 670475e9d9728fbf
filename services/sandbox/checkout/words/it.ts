import { html } from '../html.ts';
import type { Words } from './en.ts';

/** Italian. */
export const it: Words = {
  sandbox: 'Ambiente di prova: nessun denaro reale',
  reserve: (amount) => `Riserva ${amount}`,
  nothingCharged: (merchant) => `${merchant} riserva questo importo sulla tua carta. Ora non viene addebitato nulla.`,
  order: 'Ordine',
  cardTitle: 'La tua carta',
  cardNumber: 'Numero della carta',
  expiry: 'Data di scadenza',
  expiryHint: 'Mese / anno, ad esempio 08/31',
  code: 'Codice di sicurezza',
  codeHint: '3 o 4 cifre sulla carta',
  savesCard: (merchant) => `${merchant} conserverà un token di questa carta per pagamenti futuri.`,
  submit: (amount) => `Riserva ${amount}`,
  cancel: 'Annulla',
  cancelAndReturn: (merchant) => `Annulla e torna a ${merchant}`,
  closesAt: (time) => html`Orario di chiusura di questa pagina: ${time}.`,
  staysHere: (merchant) =>
    `Il numero della carta viene inviato solo al gestore dei pagamenti. ${merchant} non lo vede.`,
  correct: 'Correggi quanto segue',
  errors: {
    numberMissing: 'Inserisci il numero della carta.',
    numberLength: 'Un numero di carta ha da 13 a 19 cifre.',
    numberInvalid: 'Questo numero di carta non è valido. Controlla le cifre.',
    numberReal: 'Questo è un ambiente di prova: usa una delle carte di prova qui sotto, mai una vera.',
    expiryMissing: 'Inserisci la data di scadenza.',
    expiryFormat: 'Scrivi la data di scadenza come mese e anno, ad esempio 08/31.',
    expiryPast: 'Questa carta è scaduta.',
    expiryFar: 'Questa data è troppo lontana.',
    codeMissing: 'Inserisci il codice di sicurezza.',
    codeOfFour: 'Il codice di questa carta ha quattro cifre.',
    codeOfThree: 'Il codice di questa carta ha tre cifre.',
    codeLength: 'Il codice di sicurezza ha tre o quattro cifre.',
  },
  declinedTitle: 'Carta rifiutata',
  declined: {
    do_not_honor: (last4) => `La banca ha rifiutato la carta che termina con ${last4}. Non è stato riservato nulla.`,
    insufficient_funds: (last4) => `Il conto della carta che termina con ${last4} non ha fondi sufficienti.`,
    token_invalid: (last4) => `La banca non riconosce la carta che termina con ${last4}.`,
    challenge_failed: (last4) =>
      `Il pagamento con la carta che termina con ${last4} non è stato confermato presso la banca.`,
    no_answer: (last4) => `La banca della carta che termina con ${last4} non ha risposto. Non è stato riservato nulla.`,
  },
  tryAnother: 'Riprova o usa un’altra carta.',
  challenge: {
    title: 'Conferma presso la tua banca',
    ask: (merchant, amount, last4) =>
      `La tua banca chiede se riservi ${amount} per ${merchant} con la carta che termina con ${last4}.`,
    sandbox: 'Questa pagina rappresenta quella della tua banca: scegli la risposta.',
    pass: 'Conferma',
    fail: 'Rifiuta',
  },
  ended: {
    approved: {
      title: 'Importo riservato',
      message: (merchant, amount) =>
        `L’importo di ${amount} è riservato per ${merchant}. Ora non viene addebitato nulla.`,
    },
    failed: {
      title: 'Importo non riservato',
      message: (merchant) =>
        `Il gestore dei pagamenti ha avuto un problema. Non è stato riservato nulla. Chiedi una nuova pagina a ${merchant}.`,
    },
    expired: {
      title: 'Pagina chiusa',
      message: () => 'Il tempo per inserire una carta è scaduto. Non è stato riservato nulla.',
    },
    cancelled: {
      title: 'Pagamento annullato',
      message: () => 'Questo pagamento è stato annullato. Non è stato riservato nulla.',
    },
  },
  returnTo: (merchant) => `Torna a ${merchant}`,
  canClose: 'Puoi chiudere questa pagina.',
  unknownCheckout: {
    title: 'Pagina di pagamento non trovata',
    message: 'Controlla l’indirizzo o chiedine uno nuovo all’esercente.',
  },
  unknownPage: { title: 'Pagina non trovata', message: 'Qui non c’è nulla.' },
  notAccepted: 'Modulo non accettato',
  refusals: {
    foreign: 'Questo modulo non è stato inviato dalla nostra pagina. Apri di nuovo l’indirizzo.',
    wrongType: 'È accettato solo il modulo di questa pagina.',
    tooLarge: 'Il modulo è troppo grande.',
  },
  testCards: {
    title: 'Carte di prova',
    hint: 'Con una qualsiasi data di scadenza futura e un qualsiasi codice di sicurezza.',
    number: 'Numero',
    effect: 'Che cosa succede',
    fourDigitCode: 'codice di 4 cifre',
    challenge: 'Approvata dopo la conferma presso la banca',
    effects: {
      ok: 'Approvata',
      declined: 'Rifiutata',
      insufficient_funds: 'Rifiutata: fondi insufficienti',
      invalid: 'Rifiutata: sconosciuta alla banca',
      processor_error: 'Errore del gestore: il pagamento non riesce',
      capture_declined: 'Approvata; gli addebiti sono rifiutati',
      capture_error: 'Approvata; gli addebiti non riescono',
      timeout_applied: 'Approvata; l’avviso all’esercente va perso',
      timeout_lost: 'La banca non risponde',
      capture_timeout_applied: 'Approvata; le risposte agli addebiti vanno perse',
      capture_timeout_lost: 'Approvata; gli addebiti vanno persi',
      reversed: 'Approvata; gli addebiti sono stornati',
      reversed_in_part: 'Approvata; metà di ogni addebito è stornata',
      capture_accepted: 'Approvata; gli addebiti restano in sospeso 2 secondi',
      single_capture: 'Approvata; un solo addebito',
      ended_early: 'Approvata; la banca la termina dopo 2 secondi',
      expires_2s: 'Approvata; termina dopo 2 secondi',
      slow: 'Approvata dopo 2 secondi',
    },
  },
};
