function __halcyon_words --argument-names kind
    set -l name __halcyon_words_$kind
    printf '%s\n' $$name
end

# The word at the cursor, without a quote or --option= before it.
function __halcyon_word
    commandline -ct | string replace -r '^--[a-z-]+=' '' | string replace -r '^[\'"]' ''
end

# The words of a kind after the ones of a list with commas that are there.
function __halcyon_list --argument-names kind
    set -l before (__halcyon_word | string replace -r '[^,]*$' '')
    printf "$before%s\n" (__halcyon_words $kind)
end

function __halcyon_target
    set -l word (__halcyon_word)
    switch $word
        case 'lib:*' 'sl:*' 'rt:*' 'unix:*'
            set -l scheme (string replace -r ':.*' ':' -- $word)
            printf "$scheme%s\n" (__fish_complete_path (string replace $scheme '' -- $word))
        case '*'
            if string match -qr '[?&]fault=' -- $word
                set -l before (string replace -r 'fault=[^=]*$' 'fault=' -- $word)
                printf "$before%s\n" (__halcyon_words fault)
            else if string match -qr '[?&]hal=' -- $word
                set -l before (string replace -r 'hal=[^=]*$' 'hal=' -- $word)
                printf "$before%s\n" (__halcyon_words hal)
            else if string match -qr '^sim:.*[?&]' -- $word
                set -l before (string replace -r '[^?&]*$' '' -- $word)
                printf "$before%s\n" fault= hal= realtime
            else
                __halcyon_words target
                printf '%s\n' lib: sl: rt: unix:
                if string match -q 'sim:*' -- $word
                    printf 'sim:%s\n' (__fish_complete_path (string replace sim: '' -- $word))
                end
            end
    end
end

function __halcyon_operations
    __halcyon_list operations
end
function __halcyon_type
    __halcyon_list type
end
function __halcyon_tag
    __halcyon_list tag
end
function __halcyon_judge
    __halcyon_words judge
end
function __halcyon_format
    __halcyon_words format
end

function __halcyon_style
    __halcyon_words style
end
function __halcyon_preference
    __halcyon_words preference
end
function __halcyon_isolation
    __halcyon_words isolation
end
function __halcyon_shell
    __halcyon_words shell
end
function __halcyon_operation
    __halcyon_words operation
end
function __halcyon_command
    __halcyon_words command
end
