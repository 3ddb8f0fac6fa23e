import { type Texts, timeIn } from '../wording.ts';

const time = (at: string) => timeIn('es', at);

export const es: Texts = {
  'sign-in-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para entrar en ${app}`,
    before: [`Su código para iniciar sesión en ${app}:`],
    after: [
      `Vale durante ${minutes} minutos, en la página en la que lo pidió.`,
      'Si no lo ha pedido, ignore este mensaje: sin el código nadie puede entrar. No se lo dé a nadie.',
    ],
  }),
  'factor-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para el segundo paso en ${app}`,
    before: [`Su código para el segundo paso del inicio de sesión en ${app}:`],
    after: [
      `Vale durante ${minutes} minutos.`,
      'Si no está iniciando sesión en este momento, otra persona lo está intentando. No dé el código a nadie.',
    ],
  }),
  'phone-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para confirmar este número de teléfono en ${app}`,
    before: [`Su código para confirmar este número de teléfono en ${app}:`],
    after: [`Es válido durante ${minutes} minutos.`, 'Si no lo ha pedido, ignore este mensaje.'],
  }),
  'email-code': ({ app, code, minutes }) => ({
    subject: `${code} es su código para confirmar esta dirección de correo en ${app}`,
    before: [`Su código para usar esta dirección de correo en su cuenta de ${app}:`],
    after: [
      `Es válido durante ${minutes} minutos. Introdúzcalo en la página en la que lo pidió.`,
      'Si no lo ha pedido, ignore este mensaje. No comparta nunca el código.',
    ],
  }),
  'phone-changed': ({ app, ending, at }) => ({
    subject: `Número de teléfono cambiado en ${app}`,
    before: [
      `Se ha cambiado el número de teléfono de su cuenta en ${app}. El nuevo termina en ${ending}.`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'email-changed': ({ app, email, at }) => ({
    subject: `Dirección de correo cambiada en ${app}`,
    before: [
      `La dirección de correo de su cuenta en ${app} es ahora ${email}. Los códigos se envían allí.`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'login-changed': ({ app, change, at }) => ({
    subject: `Datos de acceso cambiados en ${app}`,
    before: [
      {
        email: `Un administrador de ${app} cambió la dirección de correo de su cuenta. Los códigos se envían ahora a la nueva dirección.`,
        phone: `Un administrador de ${app} cambió el número de teléfono de su cuenta.`,
        both: `Un administrador de ${app} cambió la dirección de correo y el número de teléfono de su cuenta. Los códigos se envían ahora a los nuevos.`,
      }[change],
      `Hora: ${time(at)}`,
      `Si no lo esperaba, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'new-device': ({ app, device, at }) => ({
    subject: `Nuevo dispositivo para ${app}`,
    before: [
      `Desde un nuevo dispositivo se puede entrar ahora en ${app} con su cuenta.`,
      `Dispositivo: ${device}`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app} y compruebe quién puede leer su correo.`,
    ],
    after: [],
  }),
  'passkey-changed': ({ app, change, passkey, at }) => ({
    subject: `Llaves de acceso modificadas en ${app}`,
    before: [
      change === 'added'
        ? `Se ha añadido una llave de acceso a su cuenta de ${app}. Con ella se puede iniciar sesión en su nombre sin código.`
        : `Se ha quitado una llave de acceso de su cuenta de ${app}. Ya no permite iniciar sesión.`,
      `Llave de acceso: ${passkey}`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'factor-changed': ({ app, change, method, at }) => ({
    subject: `Segundo paso modificado en ${app}`,
    before: [
      {
        added: `Se ha añadido un segundo paso a su inicio de sesión en ${app}.`,
        replaced: `Se ha sustituido el segundo paso de su inicio de sesión en ${app}.`,
        removed: `Se ha quitado un segundo paso de su inicio de sesión en ${app}.`,
      }[change],
      `Segundo paso: ${{ email: 'código por correo', sms: 'código por SMS', totp: 'aplicación de autenticación' }[method]}`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-code-used': ({ app, left, at }) => ({
    subject: `Código de recuperación usado en ${app}`,
    before: [
      `Se ha usado uno de sus códigos de recuperación para entrar en ${app}.`,
      `Hora: ${time(at)}`,
      `Códigos que le quedan: ${left}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-codes-renewed': ({ app, at }) => ({
    subject: `Nuevos códigos de recuperación para ${app}`,
    before: [
      `Se han creado diez códigos de recuperación nuevos para entrar en ${app}. Los anteriores ya no sirven.`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app}.`,
    ],
    after: [],
  }),
  'recovery-granted': ({ app, from, until, cancelUrl }) => ({
    subject: `Recuperación de cuenta iniciada en ${app}`,
    before: [
      `Un administrador de ${app} permitió un inicio de sesión en su cuenta sin su llave de acceso ni su segundo paso.`,
      `Puede usarse del ${time(from)} al ${time(until)}, con un código enviado a su correo y un código del administrador.`,
      'Si lo pidió usted, espere hasta la primera hora indicada.',
      `Si no, cancélelo aquí: ${cancelUrl}`,
    ],
    after: [],
  }),
  'recovery-used': ({ app, at }) => ({
    subject: `Recuperación de cuenta usada en ${app}`,
    before: [
      `Alguien inició sesión en su cuenta de ${app} sin su llave de acceso ni su segundo paso, con un código enviado a su correo y un código de un administrador.`,
      `Hora: ${time(at)}`,
      `Si no ha sido usted, avise enseguida a los responsables de ${app} y compruebe quién puede leer su correo.`,
    ],
    after: [],
  }),
  invitation: ({ app, url }) => ({
    subject: `Invitación a ${app}`,
    before: [
      `Un administrador de ${app} ha creado una cuenta para usted.`,
      `Inicie sesión aquí: ${url}`,
      'Cada vez que inicie sesión en un dispositivo nuevo recibirá un código en esta dirección. No hay contraseña.',
      `Si no conoce ${app}, ignore este mensaje.`,
    ],
    after: [],
  }),
  'sign-up-approved': ({ app, url }) => ({
    subject: `Su cuenta de ${app} está lista`,
    before: [
      `Un administrador de ${app} ha aprobado su solicitud.`,
      `Inicie sesión aquí: ${url}`,
      'Cada vez que inicie sesión en un dispositivo nuevo recibirá un código en esta dirección. No hay contraseña.',
      `Si no conoce ${app}, ignore este mensaje.`,
    ],
    after: [],
  }),
  'admin-invitation': ({ app, role, url }) => ({
    subject: `Tiene acceso a ${app} en la consola de administración`,
    before: [
      {
        owner: `Ahora es propietario de ${app}, con acceso completo a todos los proyectos.`,
        project_admin: `Ahora es administrador del proyecto ${app}.`,
        project_viewer: `Ahora puede ver el proyecto ${app}.`,
      }[role],
      `Inicie sesión en la consola con esta dirección: ${url}`,
      'Si no lo esperaba, ignore este mensaje.',
    ],
    after: [],
  }),
  'scim-token-expiring': ({ app, token, days, at }) => ({
    subject: `El token de directorio ${token} de ${app} caduca en ${days} ${days === 1 ? 'día' : 'días'}`,
    before: [
      `El token SCIM ${token} de ${app} caduca pronto. Después, el directorio ya no podrá crear, cambiar ni desactivar usuarios.`,
      `Caduca: ${time(at)}`,
      'Para sustituirlo, emita un token nuevo en la consola, en «Sincronización de directorio», configúrelo en el directorio y revoque el anterior.',
    ],
    after: [],
  }),
  'webhook-disabled': ({ app, webhook, since, at }) => ({
    subject: `Se desactivó el webhook ${webhook} de ${app}`,
    before: [
      `Latchkey desactivó el webhook a ${webhook} de ${app}. No ha aceptado eventos desde ${time(since)}.`,
      `Hora: ${time(at)}`,
      'Corrija el receptor, active el webhook en la consola, en «Webhooks», y reenvíe las entregas fallidas.',
    ],
    after: [],
  }),
  'domain-failing': ({ app, domain, fault, since, until }) => ({
    subject: `El dominio ${domain} de ${app} requiere atención`,
    before: [
      fault === 'missing'
        ? `El registro DNS que verifica ${domain} para ${app} falta desde el ${time(since)}.`
        : `Los servidores de nombres de ${domain}, un dominio de ${app}, no responden desde el ${time(since)}.`,
      `Si esto no cambia, los usuarios no podrán iniciar sesión allí después del ${time(until)}. Sus sesiones y dispositivos terminarán entonces.`,
      'La consola muestra el registro en «Ajustes», «Dominios propios».',
    ],
    after: [],
  }),
  'domain-lost': ({ app, domain, fault, since, at }) => ({
    subject: `El dominio ${domain} de ${app} dejó de funcionar`,
    before: [
      fault === 'missing'
        ? `El registro DNS que verifica ${domain} para ${app} falta desde el ${time(since)}.`
        : `Los servidores de nombres de ${domain}, un dominio de ${app}, no responden desde el ${time(since)}.`,
      'Los usuarios ya no pueden iniciar sesión allí. Sus sesiones y dispositivos han terminado, y otro proyecto puede verificar el dominio.',
      `Hora: ${time(at)}`,
      'Si el dominio sigue siendo suyo, restablezca el registro DNS y compruébelo en la consola, en «Ajustes», «Dominios propios». Si no, cambie sus aplicaciones a otro emisor y renueve sus secretos de cliente.',
    ],
    after: [],
  }),
  'test-message': ({ app, at }) => ({
    subject: `Mensaje de prueba de ${app}`,
    before: [
      `Este es un mensaje de prueba de ${app}. El envío funciona.`,
      `No tiene que hacer nada. Hora: ${time(at)}`,
    ],
    after: [],
  }),
};
