# omniauth_openid_connect at its defaults: discovery, client_secret_basic, RS256, no PKCE.
require 'json'
require 'omniauth'
require 'omniauth_openid_connect'
require 'rack/session/cookie'
require 'uri'

issuer = ENV.fetch('ISSUER')
origin = ENV.fetch('ORIGIN')

# The libraries refuse http, which only this test uses.
[SWD, WebFinger].each { |library| library.url_builder = URI::HTTP }
OmniAuth.config.allowed_request_methods = %i[get post]
OmniAuth.config.silence_get_warning = true

use Rack::Session::Cookie, secret: 'a secret of this application alone, which is longer than sixty-four bytes'
use OmniAuth::Builder do
  address = URI(issuer)
  provider :openid_connect,
           name: :latchkey, issuer: issuer, discovery: true, scope: %i[openid email profile], response_type: :code,
           client_options: {
             identifier: ENV.fetch('CLIENT_ID'), secret: ENV.fetch('CLIENT_SECRET'),
             redirect_uri: "#{origin}/auth/latchkey/callback",
             scheme: address.scheme, host: address.host, port: address.port
           }
end

run(lambda do |env|
  session = env['rack.session']
  case env['PATH_INFO']
  when '/auth/latchkey/callback'
    auth = env['omniauth.auth']
    session['id_token'] = auth.credentials.id_token
    session['user'] = auth.extra.raw_info.to_h
    [302, { 'location' => '/' }, []]
  when '/logout'
    session.delete('user')
    query = URI.encode_www_form(id_token_hint: session.delete('id_token'), post_logout_redirect_uri: "#{origin}/")
    [302, { 'location' => "#{issuer}/oauth2/end_session?#{query}" }, []]
  else
    [200, { 'content-type' => 'application/json' }, [JSON.generate(session['user'])]]
  end
end)
