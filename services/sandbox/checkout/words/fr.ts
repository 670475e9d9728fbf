import { html } from '../html.ts';
import type { Words } from './en.ts';

/** French. */
export const fr: Words = {
  sandbox: 'Environnement de test : aucun argent réel',
  reserve: (amount) => `Réserver ${amount}`,
  nothingCharged: (merchant) => `${merchant} réserve ce montant sur votre carte. Rien n’est débité maintenant.`,
  order: 'Commande',
  cardTitle: 'Votre carte',
  cardNumber: 'Numéro de carte',
  expiry: 'Date d’expiration',
  expiryHint: 'Mois / année, par exemple 08/31',
  code: 'Code de sécurité',
  codeHint: '3 ou 4 chiffres sur la carte',
  savesCard: (merchant) => `${merchant} conservera un jeton de cette carte pour de futurs paiements.`,
  submit: (amount) => `Réserver ${amount}`,
  cancel: 'Annuler',
  cancelAndReturn: (merchant) => `Annuler et retourner chez ${merchant}`,
  closesAt: (time) => html`Cette page se ferme à ${time}.`,
  staysHere: (merchant) =>
    `Votre numéro de carte n’est transmis qu’au prestataire de paiement. ${merchant} ne le voit pas.`,
  correct: 'Veuillez corriger',
  errors: {
    numberMissing: 'Saisissez le numéro de carte.',
    numberLength: 'Un numéro de carte compte de 13 à 19 chiffres.',
    numberInvalid: 'Ce numéro de carte n’est pas valide. Vérifiez les chiffres.',
    numberReal: 'Ceci est un environnement de test : utilisez une des cartes de test ci-dessous, jamais une vraie.',
    expiryMissing: 'Saisissez la date d’expiration.',
    expiryFormat: 'Saisissez la date d’expiration en mois et année, par exemple 08/31.',
    expiryPast: 'Cette carte a expiré.',
    expiryFar: 'Cette date est trop éloignée.',
    codeMissing: 'Saisissez le code de sécurité.',
    codeOfFour: 'Le code de cette carte compte quatre chiffres.',
    codeOfThree: 'Le code de cette carte compte trois chiffres.',
    codeLength: 'Le code de sécurité compte trois ou quatre chiffres.',
  },
  declinedTitle: 'Carte refusée',
  declined: {
    do_not_honor: (last4) => `La banque a refusé la carte se terminant par ${last4}. Rien n’a été réservé.`,
    insufficient_funds: (last4) => `La provision du compte de la carte se terminant par ${last4} est insuffisante.`,
    token_invalid: (last4) => `La banque ne connaît pas la carte se terminant par ${last4}.`,
    challenge_failed: (last4) =>
      `Le paiement avec la carte se terminant par ${last4} n’a pas été confirmé auprès de la banque.`,
    no_answer: (last4) => `La banque de la carte se terminant par ${last4} n’a pas répondu. Rien n’a été réservé.`,
  },
  tryAnother: 'Réessayez ou utilisez une autre carte.',
  challenge: {
    title: 'Confirmez auprès de votre banque',
    ask: (merchant, amount, last4) =>
      `Votre banque demande si vous réservez ${amount} pour ${merchant} avec la carte se terminant par ${last4}.`,
    sandbox: 'Cette page représente celle de votre banque : choisissez sa réponse.',
    pass: 'Confirmer',
    fail: 'Refuser',
  },
  ended: {
    approved: {
      title: 'Montant réservé',
      message: (merchant, amount) =>
        `Le montant de ${amount} est réservé pour ${merchant}. Rien n’est débité maintenant.`,
    },
    failed: {
      title: 'Montant non réservé',
      message: (merchant) =>
        `Le prestataire de paiement a rencontré un problème. Rien n’a été réservé. Demandez une nouvelle page à ${merchant}.`,
    },
    expired: {
      title: 'Page fermée',
      message: () => 'Le délai pour saisir une carte est écoulé. Rien n’a été réservé.',
    },
    cancelled: { title: 'Paiement annulé', message: () => 'Ce paiement a été annulé. Rien n’a été réservé.' },
  },
  returnTo: (merchant) => `Retourner chez ${merchant}`,
  canClose: 'Vous pouvez fermer cette page.',
  unknownCheckout: {
    title: 'Page de paiement introuvable',
    message: 'Vérifiez l’adresse ou demandez-en une nouvelle au marchand.',
  },
  unknownPage: { title: 'Page introuvable', message: 'Il n’y a rien ici.' },
  notAccepted: 'Formulaire non accepté',
  refusals: {
    foreign: 'Ce formulaire n’a pas été envoyé depuis notre page. Ouvrez de nouveau l’adresse.',
    wrongType: 'Seul le formulaire de cette page est accepté.',
    tooLarge: 'Le formulaire est trop volumineux.',
  },
  testCards: {
    title: 'Cartes de test',
    hint: 'Avec une date d’expiration future et un code de sécurité au choix.',
    number: 'Numéro',
    effect: 'Résultat',
    fourDigitCode: 'code à 4 chiffres',
    challenge: 'Acceptée après confirmation auprès de la banque',
    effects: {
      ok: 'Acceptée',
      declined: 'Refusée',
      insufficient_funds: 'Refusée : provision insuffisante',
      invalid: 'Refusée : inconnue de la banque',
      processor_error: 'Erreur du prestataire : le paiement échoue',
      capture_declined: 'Acceptée ; les captures sont refusées',
      capture_error: 'Acceptée ; les captures échouent',
      timeout_applied: 'Acceptée ; l’avis au marchand se perd',
      timeout_lost: 'La banque ne répond pas',
      capture_timeout_applied: 'Acceptée ; les réponses aux captures se perdent',
      capture_timeout_lost: 'Acceptée ; les captures se perdent',
      reversed: 'Acceptée ; les captures sont annulées',
      reversed_in_part: 'Acceptée ; la moitié de chaque capture est annulée',
      capture_accepted: 'Acceptée ; les captures restent en attente 2 secondes',
      single_capture: 'Acceptée ; une seule capture',
      ended_early: 'Acceptée ; la banque y met fin après 2 secondes',
      expires_2s: 'Acceptée ; prend fin après 2 secondes',
      slow: 'Acceptée après 2 secondes',
    },
  },
};
