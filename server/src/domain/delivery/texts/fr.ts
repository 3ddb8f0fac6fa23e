import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('fr', at);

export const fr: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code de connexion à ${app}`,
    before: [`Votre code pour vous connecter à ${app} :`],
    after: [
      `Il est valable ${minutes} minutes, sur la page où vous l’avez demandé.`,
      'Si vous n’avez rien demandé, ignorez ce message : sans ce code, personne ne peut se connecter. Ne le communiquez à personne.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code pour la deuxième étape sur ${app}`,
    before: [`Votre code pour la deuxième étape de la connexion à ${app} :`],
    after: [
      `Il est valable ${minutes} minutes.`,
      'Si vous n’êtes pas en train de vous connecter, quelqu’un d’autre essaie de le faire. Ne communiquez ce code à personne.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code pour confirmer ce numéro de téléphone pour ${app}`,
    before: [`Votre code pour confirmer ce numéro de téléphone pour ${app} :`],
    after: [`Il est valable ${minutes} minutes.`, 'Si vous ne l’avez pas demandé, ignorez ce message.'],
  }),
  'email-code': ({ app, code, minutes }) => ({
    subject: `${code} est votre code pour confirmer cette adresse e-mail pour ${app}`,
    before: [`Votre code pour utiliser cette adresse e-mail pour votre compte ${app} :`],
    after: [
      `Il est valable ${minutes} minutes. Saisissez-le sur la page où vous l’avez demandé.`,
      'Si vous ne l’avez pas demandé, ignorez ce message. Ne communiquez jamais ce code.',
    ],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Numéro de téléphone modifié pour ${app}`,
    before: [
      `Le numéro de téléphone de votre compte pour ${app} a été modifié. Le nouveau se termine par ${ending}.`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'email-changed': ({ app, email, at }) => ({
    subject: `Adresse e-mail modifiée pour ${app}`,
    before: [
      `L’adresse e-mail de votre compte pour ${app} est maintenant ${email}. Les codes y sont envoyés.`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'login-changed': ({ app, change, at }) => ({
    subject: `Identifiants modifiés pour ${app}`,
    before: [
      {
        email: `Un administrateur de ${app} a modifié l’adresse e-mail de votre compte. Les codes sont désormais envoyés à la nouvelle adresse.`,
        phone: `Un administrateur de ${app} a modifié le numéro de téléphone de votre compte.`,
        both: `Un administrateur de ${app} a modifié l’adresse e-mail et le numéro de téléphone de votre compte. Les codes sont désormais envoyés aux nouveaux.`,
      }[change],
      `Date : ${time(at)}`,
      `Si vous ne vous y attendiez pas, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Nouvel appareil pour ${app}`,
    before: [
      `Un nouvel appareil peut désormais se connecter à ${app} avec votre compte.`,
      `Appareil : ${device}`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app} et vérifiez qui peut lire vos e-mails.`,
    ],
    after: [],
  }),
  'passkey-changed': ({ app, change, passkey, at }) => ({
    subject: `Clés d’accès modifiées pour ${app}`,
    before: [
      change === 'added'
        ? `Une clé d’accès a été ajoutée à votre compte ${app}. Elle permet de se connecter sans code.`
        : `Une clé d’accès a été retirée de votre compte ${app}. Elle ne permet plus de se connecter.`,
      `Clé d’accès : ${passkey}`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Deuxième étape modifiée pour ${app}`,
    before: [
      {
        added: `Une deuxième étape a été ajoutée à votre connexion à ${app}.`,
        replaced: `La deuxième étape de votre connexion à ${app} a été remplacée.`,
        removed: `Une deuxième étape a été retirée de votre connexion à ${app}.`,
      }[change],
      `Deuxième étape : ${{ email: 'code par e-mail', sms: 'code par SMS', totp: 'application d’authentification' }[method]}`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Code de récupération utilisé pour ${app}`,
    before: [
      `L’un de vos codes de récupération a été utilisé pour se connecter à ${app}.`,
      `Date : ${time(at)}`,
      `Codes restants : ${left}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Nouveaux codes de récupération pour ${app}`,
    before: [
      `Dix nouveaux codes de récupération ont été créés pour votre connexion à ${app}. Les précédents ne sont plus valables.`,
      `Date : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-granted': ({ app, from, until, cancelUrl }) => ({
    subject: `Récupération de compte lancée pour ${app}`,
    before: [
      `Un administrateur de ${app} a autorisé une connexion à votre compte sans votre clé d’accès ni votre deuxième étape.`,
      `Elle est possible du ${time(from)} au ${time(until)}, avec un code envoyé à votre adresse e-mail et un code de l’administrateur.`,
      'Si vous l’avez demandée, attendez la première heure indiquée.',
      `Sinon, annulez-la ici : ${cancelUrl}`,
    ],
    after: [],
  }),
  'recovery-used': ({ app, at }) => ({
    subject: `Récupération de compte utilisée pour ${app}`,
    before: [
      `Quelqu’un s’est connecté à votre compte ${app} sans votre clé d’accès ni votre deuxième étape, avec un code envoyé à votre adresse e-mail et un code d’un administrateur.`,
      `Heure : ${time(at)}`,
      `Si ce n’était pas vous, prévenez sans attendre les responsables de ${app} et vérifiez qui peut lire vos e-mails.`,
    ],
    after: [],
  }),
  invitation: ({ app, url }) => ({
    subject: `Invitation à ${app}`,
    before: [
      `Un administrateur de ${app} a créé un compte pour vous.`,
      `Connectez-vous ici : ${url}`,
      'À chaque connexion sur un nouvel appareil, vous recevez un code à cette adresse. Il n’y a pas de mot de passe.',
      `Si vous ne connaissez pas ${app}, ignorez ce message.`,
    ],
    after: [],
  }),
  'sign-up-approved': ({ app, url }) => ({
    subject: `Votre compte ${app} est prêt`,
    before: [
      `Un administrateur de ${app} a approuvé votre demande.`,
      `Connectez-vous ici : ${url}`,
      'À chaque connexion sur un nouvel appareil, vous recevez un code à cette adresse. Il n’y a pas de mot de passe.',
      `Si vous ne connaissez pas ${app}, ignorez ce message.`,
    ],
    after: [],
  }),
  'admin-invitation': ({ app, role, url }) => ({
    subject: `Vous avez accès à ${app} dans la console d’administration`,
    before: [
      {
        owner: `Vous êtes maintenant propriétaire de ${app}, avec un accès complet à tous les projets.`,
        project_admin: `Vous êtes maintenant administrateur du projet ${app}.`,
        project_viewer: `Vous pouvez maintenant consulter le projet ${app}.`,
      }[role],
      `Connectez-vous à la console avec cette adresse : ${url}`,
      'Si vous ne vous y attendiez pas, ignorez ce message.',
    ],
    after: [],
  }),
  'scim-token-expiring': ({ app, token, days, at }) => ({
    subject: `Le jeton d’annuaire ${token} de ${app} expire dans ${days} ${days === 1 ? 'jour' : 'jours'}`,
    before: [
      `Le jeton SCIM ${token} de ${app} expire bientôt. L’annuaire ne pourra alors plus créer, modifier ni désactiver d’utilisateurs.`,
      `Expiration : ${time(at)}`,
      'Pour le remplacer, créez un nouveau jeton dans la console sous « Synchronisation d’annuaire », configurez-le dans l’annuaire, puis révoquez l’ancien.',
    ],
    after: [],
  }),
  'webhook-disabled': ({ app, webhook, since, at }) => ({
    subject: `Le webhook ${webhook} de ${app} a été désactivé`,
    before: [
      `Latchkey a désactivé le webhook vers ${webhook} de ${app}. Il n’a accepté aucun événement depuis ${time(since)}.`,
      `Heure : ${time(at)}`,
      'Corrigez le destinataire, activez le webhook dans la console sous « Webhooks », puis renvoyez les livraisons échouées.',
    ],
    after: [],
  }),
  'domain-failing': ({ app, domain, fault, since, until }) => ({
    subject: `Le domaine ${domain} de ${app} demande attention`,
    before: [
      fault === 'missing'
        ? `L’enregistrement DNS qui vérifie ${domain} pour ${app} est absent depuis le ${time(since)}.`
        : `Les serveurs de noms de ${domain}, un domaine de ${app}, ne répondent plus depuis le ${time(since)}.`,
      `Si rien ne change, les utilisateurs ne pourront plus s’y connecter après le ${time(until)}. Ses sessions et ses appareils prendront alors fin.`,
      'La console affiche l’enregistrement sous « Paramètres », « Domaines personnalisés ».',
    ],
    after: [],
  }),
  'domain-lost': ({ app, domain, fault, since, at }) => ({
    subject: `Le domaine ${domain} de ${app} ne fonctionne plus`,
    before: [
      fault === 'missing'
        ? `L’enregistrement DNS qui vérifie ${domain} pour ${app} est absent depuis le ${time(since)}.`
        : `Les serveurs de noms de ${domain}, un domaine de ${app}, ne répondent plus depuis le ${time(since)}.`,
      'Les utilisateurs ne peuvent plus s’y connecter. Ses sessions et ses appareils ont pris fin, et un autre projet peut vérifier le domaine.',
      `Heure : ${time(at)}`,
      'Si le domaine est toujours le vôtre, rétablissez l’enregistrement DNS, puis vérifiez-le dans la console sous « Paramètres », « Domaines personnalisés ». Sinon, passez ses applications à un autre émetteur et renouvelez leurs secrets de client.',
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Message d’essai de ${app}`,
    before: [
      `Ceci est un message d’essai de ${app}. L’envoi fonctionne.`,
      `Vous n’avez rien à faire. Date : ${time(at)}`,
    ],
    after: [],
  }),
};
