/** The pages and tabs of SAML applications: one script. */
export { CreateSamlPage } from './create-saml-page.tsx';
export { SamlSettings } from './saml-settings.tsx';
export { SamlSetup } from './saml-setup.tsx';
