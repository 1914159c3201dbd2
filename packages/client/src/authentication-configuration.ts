/**
 * External users of a control plane, as the custom resources of both operators declare them. The fields have the names and the meaning of the
 * AuthenticationConfiguration of kube-apiserver (apiserver.config.k8s.io/v1). Types only.
 */

export interface AuthenticationSpec {
  /**
   * Issuers of JSON Web Tokens, such as providers of OpenID Connect. A token is accepted only in control planes that name its issuer. An
   * empty list accepts none.
   *
   * @listType atomic
   * @maxItems 16
   * @rule "self.all(one, self.filter(other, other.issuer.url == one.issuer.url).size() == 1)" message "the URL of each issuer must be unique"
   */
  jwt?: JWTAuthenticator[];
}

export interface JWTAuthenticator {
  /** The issuer and the audiences of its tokens. */
  issuer: JWTIssuer;
  /**
   * Conditions on the claims. A token must satisfy all of them.
   *
   * @listType atomic
   * @maxItems 32
   */
  claimValidationRules?: ClaimValidationRule[];
  /** How claims become a user. */
  claimMappings: ClaimMappings;
  /**
   * Conditions on the user that results from the claims. It must satisfy all of them.
   *
   * @listType atomic
   * @maxItems 32
   */
  userValidationRules?: UserValidationRule[];
}

/**
 * @rule "self.audiences.size() == 1 || (has(self.audienceMatchPolicy) && self.audienceMatchPolicy == 'MatchAny')"
 *   message "audienceMatchPolicy must be MatchAny with more than one audience"
 * @rule "!has(self.discoveryURL) || self.discoveryURL != self.url" message "discoveryURL must differ from url"
 */
export interface JWTIssuer {
  /**
   * URL of the issuer: the claim iss of its tokens. The API server reads the keys of the issuer from its discovery document. Virtual control
   * planes connect to it within the policy of the server for outgoing connections of tenants.
   *
   * @minLength 1
   * @maxLength 2048
   * @pattern ^https://[^?#@\s]+$
   */
  url: string;
  /**
   * URL of the discovery document. Defaults to /.well-known/openid-configuration below url.
   *
   * @minLength 1
   * @maxLength 2048
   * @pattern ^https://[^?#@\s]+$
   */
  discoveryURL?: string;
  /**
   * Certificates (PEM) that verify the TLS connection to the issuer. If unset, the certificates that the API server trusts.
   *
   * @maxLength 32768
   */
  certificateAuthority?: string;
  /**
   * Accepted audiences. A token must have at least one of them.
   *
   * @listType set
   * @minItems 1
   * @maxItems 16
   * @items.minLength 1
   * @items.maxLength 1024
   */
  audiences: string[];
  /** How audiences are compared. Required, and MatchAny, if there is more than one audience. */
  audienceMatchPolicy?: 'MatchAny';
}

/** @rule "has(self.claim) != has(self.expression)" message "exactly one of claim and expression is required" */
export interface ClaimValidationRule {
  /**
   * Name of a claim that must have the value requiredValue.
   *
   * @minLength 1
   * @maxLength 256
   */
  claim?: string;
  /**
   * Value of the claim.
   *
   * @maxLength 1024
   */
  requiredValue?: string;
  /**
   * CEL expression over claims that must be true.
   *
   * @minLength 1
   * @maxLength 2048
   */
  expression?: string;
  /**
   * Error message for a token that does not satisfy the expression.
   *
   * @maxLength 1024
   */
  message?: string;
}

export interface UserValidationRule {
  /**
   * CEL expression over user that must be true, such as user.username.startsWith('team-').
   *
   * @minLength 1
   * @maxLength 2048
   */
  expression: string;
  /**
   * Error message for a user that does not satisfy the rule.
   *
   * @maxLength 1024
   */
  message?: string;
}

export interface ClaimMappings {
  /** The user name. */
  username: PrefixedClaimOrExpression;
  /** The groups: a string or a list of strings. If unset, the user has no groups of the issuer. */
  groups?: PrefixedClaimOrExpression;
  /** The UID of the user. */
  uid?: ClaimOrExpression;
  /**
   * Further attributes of the user.
   *
   * @listType map
   * @listMapKey key
   * @maxItems 16
   */
  extra?: ExtraMapping[];
}

/**
 * @rule "has(self.claim) != has(self.expression)" message "exactly one of claim and expression is required"
 * @rule "has(self.claim) == has(self.prefix)" message "prefix is required with claim, and must not be set with expression"
 */
export interface PrefixedClaimOrExpression {
  /**
   * Name of the claim.
   *
   * @minLength 1
   * @maxLength 256
   */
  claim?: string;
  /**
   * Prefix of the value of the claim. Required with claim; it may be empty.
   *
   * @maxLength 256
   */
  prefix?: string;
  /**
   * CEL expression over claims.
   *
   * @minLength 1
   * @maxLength 2048
   */
  expression?: string;
}

/** @rule "has(self.claim) != has(self.expression)" message "exactly one of claim and expression is required" */
export interface ClaimOrExpression {
  /**
   * Name of the claim.
   *
   * @minLength 1
   * @maxLength 256
   */
  claim?: string;
  /**
   * CEL expression over claims.
   *
   * @minLength 1
   * @maxLength 2048
   */
  expression?: string;
}

export interface ExtraMapping {
  /**
   * Key of the attribute: a domain in lower case, a slash and a path.
   *
   * @minLength 1
   * @maxLength 510
   */
  key: string;
  /**
   * CEL expression over claims: a string or a list of strings.
   *
   * @minLength 1
   * @maxLength 2048
   */
  valueExpression: string;
}
